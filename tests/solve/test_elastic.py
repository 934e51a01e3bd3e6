import numpy as np
import pandas as pd
import pytest

from planner.errors import InfeasiblePlan, InputError
from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem
from planner.solve import SolveOptions, elastic, solve

EXACT = SolveOptions(gap=0.0)


def two_sites(demand=(9.0, 14.0), power=(4.0, 6.0), budget=100.0, units=None):
    """Serve each period's demand from the units at two sites; a unit serves 1 and costs 5."""
    pairs = pd.DataFrame({"site": ["A", "A", "B", "B"], "period": ["Q1", "Q2", "Q1", "Q2"]})
    columns = [ColumnBlock("unit", pairs, 0, np.inf if units is None else units, True)]
    every = np.arange(4)
    rows = [
        RowBlock.from_terms(
            "demand", pd.DataFrame({"period": ["Q1", "Q2"]}), ">=", list(demand), [(every % 2, every, 1.0)]
        ),
        RowBlock.from_terms(
            "power", pairs, "<=", [power[0], power[0], power[1], power[1]], [(every, every, 1.0)]
        ),
        RowBlock.from_terms(
            "budget", pd.DataFrame({"limit": ["all"]}), "<=", budget, [([0] * 4, every, 5.0)]
        ),
    ]
    return PlanProblem("sites", columns, rows, np.full(4, 5.0))


def test_the_short_row_is_named_with_its_labels_and_amount():
    """14 are asked for in Q2 and 10 fit: demand stays 4 below, or power is exceeded by 4 at either site."""
    problem = two_sites()
    assert solve(problem, EXACT).status == "infeasible"
    short = elastic(problem, {"demand": 1.0}, EXACT)
    assert short.to_dict("records") == [
        {"family": "demand", "period": "Q2", "shortfall": 4.0, "direction": "below", "bound": 14.0}
    ]
    over = elastic(problem, {"power": 1.0, "budget": 0.001}, EXACT)
    power = over[over["family"] == "power"]
    assert power["shortfall"].sum() == pytest.approx(4.0)
    assert power["period"].unique().tolist() == ["Q2"]
    assert power["direction"].unique().tolist() == ["above"]
    budget = over[over["family"] == "budget"].iloc[0]
    assert (budget["shortfall"], budget["bound"]) == (pytest.approx(5.0 * 23 - 100), 100.0)


def test_the_weights_decide_which_limit_gives_way():
    problem = two_sites()
    cheap_power = elastic(problem, {"demand": 10.0, "power": 1.0, "budget": 0.1}, EXACT)
    assert set(cheap_power["family"]) == {"power", "budget"}
    cheap_demand = elastic(problem, {"demand": 1.0, "power": 10.0, "budget": 10.0}, EXACT)
    assert set(cheap_demand["family"]) == {"demand"}


def test_rows_of_one_family_may_weigh_differently():
    problem = two_sites(demand=(9.0, 14.0))
    first = elastic(problem, {"power": np.array([1.0, 5.0, 1.0, 1.0]), "budget": 0.001}, EXACT)
    assert first[first["family"] == "power"]["site"].tolist() == ["B"]


def test_the_gravest_breach_comes_first():
    frame = elastic(two_sites(demand=(12.0, 14.0)), {"demand": 1.0}, EXACT)
    assert frame["period"].tolist() == ["Q2", "Q1"]
    assert frame["shortfall"].tolist() == pytest.approx([4.0, 2.0])


def test_a_model_with_a_plan_needs_no_relief():
    frame = elastic(two_sites(demand=(5.0, 6.0)), {"demand": 1.0, "power": 1.0}, EXACT)
    assert frame.empty
    assert frame.columns[0] == "family"


def test_an_equality_may_give_way_in_either_direction():
    place = pd.DataFrame({"site": ["A", "B"]})
    rows = [RowBlock.from_terms("balance", place, "==", [7.0, -3.0], [([0, 1], [0, 1], 1.0)])]
    problem = PlanProblem("balance", [ColumnBlock("x", place, 0.0, 5.0)], rows)
    frame = elastic(problem, {"balance": 1.0}, EXACT).set_index("site")
    assert frame["direction"].to_dict() == {"A": "below", "B": "above"}
    assert frame["shortfall"].to_dict() == pytest.approx({"A": 2.0, "B": 3.0})


def test_limits_that_may_not_give_way_and_clash_are_named():
    problem = two_sites()
    with pytest.raises(InfeasiblePlan, match=r"clash among themselves: (power|demand)"):
        elastic(problem, {"budget": 1.0}, EXACT)


def test_whole_numbers_stay_whole_in_the_smallest_relief():
    """2.5 units fit and 2.8 are asked for: the third whole unit goes 0.5 over the power limit."""
    place = pd.DataFrame({"site": ["A"]})
    rows = [
        RowBlock.from_terms("demand", place, ">=", 2.8, [(0, 0, 1.0)]),
        RowBlock.from_terms("power", place, "<=", 2.5, [(0, 0, 1.0)]),
    ]
    problem = PlanProblem("whole", [ColumnBlock("unit", place, 0, 9, True)], rows)
    assert elastic(problem, {"power": 1.0}, EXACT)["shortfall"].tolist() == pytest.approx([0.5])


def test_a_label_called_limit_keeps_its_name():
    """Limits on shares, carbon and water are labelled ``limit``: a breach says which of them gives way."""
    rows = [
        RowBlock.from_terms(
            "carbon", pd.DataFrame({"limit": ["grid", "all"]}), "<=", [3.0, 9.0], [([0, 1], 0, 1.0)]
        ),
        RowBlock.from_terms("demand", pd.DataFrame({"site": ["A"]}), ">=", 5.0, [(0, 0, 1.0)]),
    ]
    problem = PlanProblem("named", [ColumnBlock("x", pd.DataFrame({"site": ["A"]}))], rows)
    frame = elastic(problem, {"carbon": 1.0}, EXACT)
    assert frame[["limit", "shortfall", "bound"]].to_numpy().tolist() == [["grid", 2.0, 3.0]]


def test_an_unknown_family_is_an_input_error():
    with pytest.raises(InputError, match="there are demand, power, budget"):
        elastic(two_sites(), {"carbon": 1.0}, EXACT)
