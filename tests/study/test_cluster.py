"""Workers of a Dask scheduler give what this process gives; without Dask or a scheduler there is one clear error."""

from __future__ import annotations

import sys

import pytest
from pure_functions import product
from study_cases import PRICE, RELAXED, tiny

from planner.errors import InputError
from planner.study import ClusterProcesses, ThisProcess, grid, run_cases

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def address():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def test_two_workers_give_what_this_process_gives(address):
    cluster = ClusterProcesses(address)
    assert cluster.workers == 2
    assert dict(cluster.run(product, 3, range(20))) == {place: 3 * place for place in range(20)}
    cases = grid([PRICE + "0.1,0.2,1"])
    here, there = (run_cases(tiny(), cases, RELAXED, where) for where in (ThisProcess(), cluster))
    one, other = here.frame().drop(columns="seconds"), there.frame().drop(columns="seconds")
    assert one.equals(other)


def test_no_scheduler_is_one_clear_error(monkeypatch):
    pytest.importorskip("distributed")
    from planner.study import cluster

    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with pytest.raises(InputError, match="no Dask scheduler answers there"):
        _ = ClusterProcesses("tcp://127.0.0.1:9").workers


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match="pip install"):
        _ = ClusterProcesses("tcp://127.0.0.1:8786").workers
