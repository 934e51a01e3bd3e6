from __future__ import annotations

from synthetic_plan import infeasible_plan

from reports import summary_text


def test_the_answer_takes_five_lines_and_names_weak_prices(plan):
    lines = summary_text(plan).splitlines()
    assert lines[0] == "two sites: optimal"
    assert lines[1].strip() == (
        "Buy 5 x server-b, 4 x server-a; rent on demand up to 1 x server-a, 1 x server-b. "
        "First order due by 2027-01-01."
    )
    assert "11.53 USD per million effective tokens" in lines[2]
    assert (
        lines[3]
        .strip()
        .startswith("Against this plan: do nothing is infeasible; rent everything costs +40.0 %")
    )
    assert "72 of 192 kW (38 %)" in lines[4]
    assert "1 of 1 checks pass" in lines[5]
    assert lines[6].strip() == "Only an estimate supports offers buy server-a."


def test_an_infeasible_scenario_says_what_is_short():
    text = summary_text(infeasible_plan())
    assert text.startswith("two sites: infeasible")
    assert "short of 4.2 MW at hall-0" in text
