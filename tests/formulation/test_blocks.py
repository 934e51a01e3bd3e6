import highspy
import numpy as np
import pandas as pd
import pytest

from planner.errors import InputError
from planner.formulation.blocks import ColumnBlock, ColumnIndex, RowBlock
from planner.formulation.lp_text import LINE_WIDTH, lp_text
from planner.formulation.pulp_face import PlanProblem
from planner.solve import SolveOptions, solve
from planner.solve.mps import read_mps

SITES = pd.DataFrame({"site": ["A", "B"]})
PERIODS = pd.DataFrame({"site": ["A", "B", "A", "B"], "period": ["Q1", "Q1", "Q2", "Q2"]})


def refusal(action):
    with pytest.raises(InputError) as raised:
        action()
    return str(raised.value)


def power(**changes):
    parts = {"family": "power", "labels": SITES, "sense": "<=", "rhs": [40.0, 60.0]}
    parts["terms"] = [([0, 1], [3, 4], 1.2)]
    return RowBlock.from_terms(**(parts | changes))


def test_one_number_stands_for_every_variable_of_a_column_block():
    block = ColumnBlock("order", PERIODS, 0.0, [1.0, 2.0, 3.0, np.inf], True)
    assert block.lower.tolist() == [0, 0, 0, 0]
    assert block.upper.tolist() == [1, 2, 3, np.inf]
    assert block.integer.tolist() == [True] * 4
    with pytest.raises(ValueError, match="read-only"):
        block.upper[0] = 9.0


def test_flags_of_whole_numbers_may_differ_inside_a_block():
    assert ColumnBlock("rent", SITES, integer=[True, False]).integer.tolist() == [True, False]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("order", SITES, [0.0, 5.0], 4.0), "lower bound exceeds the upper bound at site=B"),
        (("order", SITES, [0.0, np.nan], 4.0), "lower bound must be a number at site=B"),
        (("order", SITES, np.inf), "lower bound must be a number at site=A"),
        (("order", SITES, 0.0, [1.0, 2.0, 3.0]), r"upper has shape (3,), the label frame has 2 rows"),
        (("Order units", SITES), "lower-case letters"),
        (("order", SITES.set_index(pd.Index([5, 6]))), "RangeIndex"),
    ],
)
def test_a_faulty_column_block_is_refused_with_family_and_label(arguments, words):
    message = refusal(lambda: ColumnBlock(*arguments))
    assert words in message
    assert "family" in message


def test_entries_are_kept_sorted_by_row_and_column_without_zeros():
    block = RowBlock("mix", SITES, "==", 1.0, [1, 0, 1, 0], [7, 5, 2, 3], [4.0, 3.0, 2.0, 0.0])
    assert block.row.tolist() == [0, 1, 1]
    assert block.column.tolist() == [5, 2, 7]
    assert block.value.tolist() == [3.0, 2.0, 4.0]
    assert block.start.tolist() == [0, 1, 3]


def test_terms_broadcast_like_the_same_terms_written_out():
    rows, columns = np.arange(2)[:, None], np.array([[0, 1], [2, 3]])
    short = power(terms=[(rows, columns, 2.0), (rows, [[4], [5]], -1.0)])
    written_out = power(
        terms=[([0, 0, 1, 1], [0, 1, 2, 3], [2.0, 2.0, 2.0, 2.0]), (0, 4, -1.0), (1, 5, -1.0)]
    )
    for part in ("row", "column", "value", "start"):
        assert getattr(short, part).tolist() == getattr(written_out, part).tolist()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"terms": [([0, 1, 1], [3, 4, 4], 1.0)]}, "two entries for column 4 in the row site=B"),
        ({"terms": [([0, 1], [3, 4], [1.0, np.nan])]}, "coefficient at site=B is not finite"),
        ({"terms": [([0, 2], [3, 4], 1.0)]}, "a row or column that does not exist"),
        ({"terms": [([0, 1], [3, -1], 1.0)]}, "a row or column that does not exist"),
        ({"rhs": [40.0, np.inf]}, "right-hand side is not finite at site=B"),
        ({"sense": "<"}, "sense must be one of <=, >=, =="),
        ({"terms": [(0, 3, 1.0)]}, "nothing can contribute"),
    ],
)
def test_a_faulty_row_block_is_refused_with_family_and_label(changes, words):
    message = refusal(lambda: power(**changes))
    assert words in message
    assert "model family power" in message


def test_arrays_of_different_length_are_refused():
    assert "do not match" in refusal(lambda: RowBlock("mix", SITES, "==", 1.0, [0, 1], [0], [1.0, 1.0]))


def test_an_empty_row_is_named_even_if_it_would_hold():
    message = refusal(lambda: power(terms=[(0, 3, 1.0)], rhs=[40.0, 60.0]))
    assert "site=B" in message
    assert "'60.0'" in message


def test_a_row_whose_coefficients_are_all_zero_is_empty():
    assert "site=B" in refusal(lambda: power(terms=[([0, 1], [3, 4], [1.0, 0.0])]))


def test_an_allowed_empty_row_that_holds_is_dropped_and_the_others_keep_their_entries():
    labels = pd.DataFrame({"site": ["A", "B", "C"]})
    terms = [([0, 2], [3, 4], [1.0, 2.0])]
    block = RowBlock.from_terms("power", labels, "<=", [40.0, 60.0, 80.0], terms, allow_empty=True)
    assert block.labels["site"].tolist() == ["A", "C"]
    assert block.rhs.tolist() == [40.0, 80.0]
    assert block.row.tolist() == [0, 1]
    assert block.start.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("sense", "rhs"), [("<=", -1.0), (">=", 1.0), ("==", 1.0)])
def test_an_allowed_empty_row_that_cannot_hold_is_refused(sense, rhs):
    changes = {"sense": sense, "rhs": [0.0, rhs], "terms": [(0, 3, 1.0)], "allow_empty": True}
    assert "site=B" in refusal(lambda: power(**changes))


@pytest.mark.parametrize(
    ("sense", "lower", "upper"), [("<=", -np.inf, 5.0), (">=", 5.0, np.inf), ("==", 5.0, 5.0)]
)
def test_the_sense_gives_the_limits_of_a_row(sense, lower, upper):
    block = power(sense=sense, rhs=5.0)
    assert block.lower.tolist() == [lower] * 2
    assert block.upper.tolist() == [upper] * 2


def test_positions_count_through_all_column_blocks():
    index = ColumnIndex([ColumnBlock("open", SITES), ColumnBlock("serve", PERIODS)])
    assert index.count == 6
    assert index.position("serve") == slice(2, 6)
    assert index.frame("serve")["column"].tolist() == [2, 3, 4, 5]
    block, ordinal = index.at(4)
    assert (block.family, ordinal) == ("serve", 2)


def test_an_empty_block_between_others_takes_no_position():
    index = ColumnIndex(
        [ColumnBlock("a", SITES), ColumnBlock("none", SITES.iloc[:0]), ColumnBlock("b", SITES)]
    )
    assert index.position("none") == slice(2, 2)
    assert index.at(2)[0].family == "b"


def test_two_column_blocks_of_one_name_are_refused():
    blocks = [ColumnBlock("open", SITES), ColumnBlock("open", SITES)]
    assert "share a family name" in refusal(lambda: ColumnIndex(blocks))


def test_an_unknown_family_is_answered_with_those_there_are():
    assert "there are open" in refusal(lambda: ColumnIndex([ColumnBlock("open", SITES)]).position("shut"))


def test_one_family_alone_prints_its_rows_and_only_the_columns_it_uses():
    columns = [
        ColumnBlock("open", SITES, 0, 1, True),
        ColumnBlock("serve", PERIODS),
        ColumnBlock("balance", SITES, -np.inf, [np.inf, 3.5]),
    ]
    block = RowBlock.from_terms(
        "limit",
        SITES,
        "<=",
        [0.0, 2.5],
        [([0, 1], [0, 1], [-40.0, -60.5]), ([0, 1], [2, 3], 1.0), (1, [6, 7], 1)],
    )
    assert lp_text(columns, [block]) == (
        "Minimize\n"
        " objective:\n"
        "Subject To\n"
        "\\ site=A\n"
        " limit_0: - 40 open_0 + 1 serve_0 <= 0\n"
        "\\ site=B\n"
        " limit_1: - 60.5 open_1 + 1 serve_1 + 1 balance_0 + 1 balance_1 <= 2.5\n"
        "Bounds\n"
        "\\ open_0: site=A\n"
        " 0 <= open_0 <= 1\n"
        "\\ open_1: site=B\n"
        " 0 <= open_1 <= 1\n"
        "\\ serve_0: site=A, period=Q1\n"
        "\\ serve_1: site=B, period=Q1\n"
        "\\ balance_0: site=A\n"
        " balance_0 free\n"
        "\\ balance_1: site=B\n"
        " -inf <= balance_1 <= 3.5\n"
        "General\n"
        " open_0 open_1\n"
        "End\n"
    )


def test_a_cost_change_leaves_the_text_of_a_family_alone():
    columns = [ColumnBlock("x", PERIODS)]
    block = RowBlock.from_terms("need", SITES, ">=", 1.0, [([0, 1], [0, 1], 1.0)])
    assert "x_2" not in lp_text(columns, [block])
    assert "x_2" in lp_text(columns, [block], np.array([0, 0, 1.0, 0]))


def test_another_reader_finds_the_same_optimum_in_the_text(tmp_path):
    generator = np.random.default_rng(3)
    labels = pd.DataFrame({"item": range(30)})
    columns = [ColumnBlock("x", labels, [-2.0] * 10 + [0.0] * 20, 4.0, generator.random(30) < 0.5)]
    weights = generator.uniform(1.0, 9.0, (3, 30)) / 7
    rows = [
        RowBlock.from_terms(
            "cover",
            pd.DataFrame({"row": range(3)}),
            ">=",
            50.0,
            [(np.arange(3)[:, None], np.arange(30), weights)],
        )
    ]
    problem = PlanProblem("text", columns, rows, generator.uniform(1.0, 5.0, 30))
    path = tmp_path / "model.lp"
    problem.write_lp(path)
    assert max(map(len, path.read_text().splitlines())) <= LINE_WIDTH + 40
    exact = SolveOptions(gap=0.0)
    assert solve(read_mps(path), exact).objective == pytest.approx(solve(problem, exact).objective, rel=1e-9)
    assert highspy.Highs().readModel(str(path)) == highspy.HighsStatus.kOk
