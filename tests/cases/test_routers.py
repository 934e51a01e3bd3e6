"""Routers: what a plan pays for lines of their own, and for prefixes that a request does not meet."""

from __future__ import annotations

import pytest

from planner.errors import InputError
from planner.inputs import load_scenario, resolved_workloads
from planner.performance import operating_points

ASSISTANT = "workloads/assistant"
"""A tenth of its prompts' tokens and more are found again: cached_input_fraction 0.3."""


def routed(*cells):
    return load_scenario("small", [f"{ASSISTANT}/{cell}" for cell in cells])


def found(*cells):
    workloads = resolved_workloads(routed(*cells)).set_index("workload")
    return tuple(workloads.loc["assistant", ["cached_input_fraction", "stated_cached_fraction"]])


# Of six replicas one holds the prefix a request repeats: 0.3 / 6.
@pytest.mark.parametrize(
    ("cells", "share"),
    [
        ((), 0.3),
        (("router=prefix_aware",), 0.3),
        (("router=round_robin", "router_replicas=6"), 0.05),
        (("router=least_load", "router_replicas=6"), 0.05),
        (("router=least_load", "cache_shared=true"), 0.3),
        (("router=round_robin", "router_replicas=1"), 0.3),
    ],
)
def test_prefixes_found_behind_a_router(cells, share):
    assert found(*cells) == (pytest.approx(share), pytest.approx(0.3))


@pytest.fixture(scope="module")
def points():
    shared = "cache_shared=true"
    return {
        name: operating_points(routed(*cells))
        for name, cells in {
            "blank": (),
            "least_load": ("router=least_load", shared),
            "round_robin": ("router=round_robin", shared),
            "prefix_aware": ("router=prefix_aware",),
            "misses": ("router=least_load", "router_replicas=6"),
        }.items()
    }


def carried(points, replicas):
    """Return the requests/s that one replica carries in a pool of so many, the best of a product."""
    rows = points.caps[points.caps["workload"].eq("assistant") & points.caps["replicas"].eq(replicas)]
    return rows.groupby("product")["requests_per_s"].max()


def test_least_load_with_a_shared_cache_is_what_no_router_stated_means(points):
    for name in ("taken", "caps"):
        left, right = (getattr(points[router], name) for router in ("blank", "least_load"))
        assert left.equals(right)


def test_lines_of_their_own_carry_less_in_a_large_pool(points):
    common, turn, prefix = (points[name] for name in ("least_load", "round_robin", "prefix_aware"))
    assert (carried(turn, 16) <= carried(common, 16)).all()
    assert (carried(turn, 16) < carried(common, 16)).any()
    # Dealt out in turn arrivals are evener than where prefixes decide.
    assert (carried(prefix, 16) <= carried(turn, 16)).all()
    assert (carried(prefix, 16) < carried(turn, 16)).any()


def test_prompts_that_miss_their_prefix_are_computed_again(points):
    def rate(name):
        taken = points[name].taken
        own = taken[taken["workload"].eq("assistant") & taken["shape"].eq("document")]
        return own.groupby("product")["requests_per_s"].max()

    assert (rate("misses") < rate("blank")).all()


def test_a_router_that_misses_prefixes_says_among_how_many():
    with pytest.raises(InputError, match=r"router_replicas.*needed with router round_robin"):
        routed("router=round_robin")
    with pytest.raises(InputError, match=r"router.*round_robin"):
        routed("router=sticky")
    with pytest.raises(InputError, match="router_replicas"):
        routed("router=round_robin", "router_replicas=0")
    (said,) = [
        text for text in routed("router=prefix_aware", "router_replicas=4").warnings if "router_rep" in text
    ]
    assert "not used" in said
