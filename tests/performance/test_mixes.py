"""One deployment for each pool, judged over the mix of its shapes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from planner.inputs.catalog import shipped_catalog
from planner.performance.clocks import NOMINAL
from planner.performance.mixes import Mixes, one_deployment, pooled, with_deployment
from planner.performance.roofline_constants import roofline_constants

FACTORS = pd.DataFrame(
    {"metric": ["ttft", "tpot"], "statistic": ["p95", "p95"], "attained_fraction": [0.95, 0.95]}
)


@pytest.fixture(scope="module")
def constants():
    return roofline_constants(shipped_catalog()["roofline_constants"].frame)


def shapes(**values) -> pd.DataFrame:
    """Return 97 % short requests and 3 % with long prompts."""
    frame = pd.DataFrame(
        {
            "workload": "chat",
            "shape": ["short", "long"],
            "model": "m",
            "percentile": "p95",
            "ttft_ms": 1000.0,
            "tpot_ms": 50.0,
            "e2e_ms": np.nan,
            "share_fraction": [0.97, 0.03],
            "uncached_tokens": [200.0, 3000.0],
            "generated_tokens": 100.0,
            "queued": True,
            "prompt_scv": 0.0,
            "burst_dispersion": 1.0,
            "minute_cv": 0.0,
            "own_lines": False,
            "in_turn": False,
            "asked_requests_per_s": 20.0,
        }
    )
    return frame.assign(**values)


def candidates(*rows: dict) -> pd.DataFrame:
    """Return candidates of one product and engine; steps do not depend on the batch."""
    usual = {
        "workload": "chat",
        "product": "box",
        "model": "m",
        "engine": "e",
        "engine_option": "",
        "decoding": "plain",
        "phase": "mixed",
        "clock_choice": 1.0,
        "provider": "roofline",
        "replicas_per_unit": 8.0,
        "slots": 1e6,
        "tpot_target_ms": 50.0,
    }
    frame = pd.DataFrame([usual | row for row in rows])
    return with_deployment(frame.assign(candidate=np.arange(len(frame))))


def curve(shape: str, chips: float, batches, step_ms: float, prompt_s: float, first_ms: float) -> list[dict]:
    rows = []
    for batch in batches:
        rate = batch / (100.0 * step_ms / 1e3 + batch * prompt_s)
        rows.append(
            {
                "shape": shape,
                "layout": f"tensor parallel over {chips:.0f} chips",
                "replica_chips": chips,
                "replicas_per_unit": 8.0 / chips,
                "concurrency": float(batch),
                "requests_per_s": rate * 8.0 / chips,
                "prefill_time_fraction": rate * prompt_s,
                "service_ttft_ms": first_ms,
                "step_ms": step_ms,
                "step_alone_ms": step_ms,
            }
        )
    return rows


BATCHES = (1, 2, 4, 8, 16, 32, 64)


def test_all_shapes_of_a_pool_get_one_deployment(constants):
    # Per chip, one card is better at short prompts and two at long ones.
    points = candidates(
        *curve("short", 1, BATCHES, 20.0, 0.01, 30.0),
        *curve("long", 1, BATCHES, 20.0, 0.5, 600.0),
        *curve("short", 2, BATCHES, 19.0, 0.009, 30.0),
        *curve("long", 2, BATCHES, 19.0, 0.05, 80.0),
    )
    chosen = points.set_index("candidate").loc[
        Mixes(points, shapes(), FACTORS, NOMINAL, constants).chosen(1000.0, np.nan)
    ]
    assert sorted(chosen["shape"]) == ["long", "short"]
    assert chosen["replica_chips"].nunique() == 1


def test_a_shape_that_misses_alone_does_not_refuse_its_pool(constants):
    points = candidates(
        *curve("short", 1, BATCHES, 20.0, 0.01, 30.0), *curve("long", 1, BATCHES, 20.0, 0.1, 1500.0)
    )
    chosen = Mixes(points, shapes(), FACTORS, NOMINAL, constants).chosen(1000.0, np.nan)
    assert len(chosen) == 2
    half = Mixes(points, shapes(share_fraction=[0.5, 0.5]), FACTORS, NOMINAL, constants)
    assert half.chosen(1000.0, np.nan).empty
    lost = half.refused(1000.0, np.nan)
    assert sorted(lost["shape"]) == ["long", "short"]
    assert lost["reason"].str.startswith("TTFT of the mix where nearly nobody waits").all()


def test_a_load_below_a_concurrency_of_one_is_tried(constants):
    # One request at a time keeps prompts busy 90 % of the time; at a tenth of that load few answers are disturbed.
    points = candidates(
        *curve("short", 1, [1], 1.0, 0.9, 900.0), *curve("long", 1, [1], 1.0, 0.9, 900.0)
    ).assign(tpot_target_ms=2.0)
    mixes = Mixes(points, shapes(asked_requests_per_s=0.05), FACTORS, NOMINAL, constants)
    whole, low = mixes.tpot_slack
    assert (whole < 0).all()
    assert low[0, 0] > 0
    assert len(mixes.chosen(2000.0, np.nan)) == 2


def test_larger_layouts_are_taken_where_only_they_hold_all_shapes(constants):
    points = candidates(
        *curve("short", 1, BATCHES, 20.0, 0.01, 30.0),
        *curve("short", 4, BATCHES, 20.0, 0.01, 30.0),
        *curve("long", 4, BATCHES, 20.0, 0.1, 150.0),
    )
    chosen = Mixes(points, shapes(), FACTORS, NOMINAL, constants).chosen(1000.0, np.nan)
    assert set(points.set_index("candidate").loc[chosen, "replica_chips"]) == {4.0}


def test_best_of_each_deployment_are_reduced_to_one(constants):
    points = candidates(
        *curve("short", 1, [64], 20.0, 0.01, 30.0),
        *curve("long", 1, [64], 20.0, 0.5, 600.0),
        *curve("short", 2, [64], 19.0, 0.009, 30.0),
        *curve("long", 2, [64], 19.0, 0.05, 80.0),
    )
    even = one_deployment(points, np.full(4, 0.5))
    rare = one_deployment(points, np.array([0.999, 0.001, 0.999, 0.001]))
    assert set(even["replica_chips"]) == {2.0}
    assert set(rare["replica_chips"]) == {1.0}
    assert pooled(points, shapes()).all()
    assert not pooled(points, shapes(queued=False)).any()


def test_a_lower_load_is_taken_where_more_requests_crowd_out_the_cache(constants):
    hits, misses = (
        [curve(name, 1, batches, 20.0, prompt_s, 30.0) for name in ("short", "long")]
        for batches, prompt_s in (((1, 4, 16), 0.005), ((32, 64), 0.1))
    )
    points = candidates(*(row for rows in (*hits, *misses) for row in rows))
    chosen = Mixes(points, shapes(), FACTORS, NOMINAL, constants).chosen(5000.0, np.nan)
    assert set(points.set_index("candidate").loc[chosen, "concurrency"]) == {16.0}
