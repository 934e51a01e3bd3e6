"""Executors give every item's result once, wherever it runs, and lose only the item a process died of."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from pure_functions import fatal, product

from planner.study import LocalProcesses, ThisProcess
from planner.study.executors import WorkerLost


@pytest.mark.slow
def test_this_process_and_two_others_give_the_same():
    items = list(range(7))
    here = dict(ThisProcess().run(product, 3, items))
    assert here == {place: 3 * place for place in items}
    assert dict(LocalProcesses(2).run(product, 3, items)) == here


def test_nothing_to_do_starts_no_process():
    assert list(LocalProcesses(2).run(product, 3, [])) == []


def test_ctrl_c_waits_for_the_item_in_hand():
    def pressed(_shared, item):
        os.kill(os.getpid(), signal.SIGINT)
        return item

    assert threading.current_thread() is threading.main_thread()
    # What is started in the background of a shell ignores Ctrl-C from birth.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(ThisProcess().run(pressed, None, [1, 2]))
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_a_process_that_dies_loses_its_own_item_and_no_other(tmp_path):
    found = dict(LocalProcesses(2).run(fatal, str(tmp_path), list(range(6))))
    assert isinstance(found.pop(3), WorkerLost)
    assert found == {place: place for place in (0, 1, 2, 4, 5)}
    assert (tmp_path / "3").read_text(encoding="utf-8") == "tried\n" * 2
