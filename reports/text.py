"""The plan in a few lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.plan.bound import BOUND_LABEL
from reports.answer import answer_lines, estimated_prices
from reports.content import content_of
from reports.finance_lines import finance_lines
from reports.latency import latency_sentences, sizing_sentences
from reports.waterfall import waterfall_sentences

if TYPE_CHECKING:
    from planner.plan import Plan


def summary_text(plan: Plan) -> str:
    """Return the answer in five lines, then what to be careful about."""
    content = content_of(plan, audit=False)
    status = BOUND_LABEL if content.is_bound else content.status
    lines = [f"{content.scenario_name}: {status}", *(f"  {line}" for line in answer_lines(content))]
    if content.has_plan and not content.is_bound:
        lines += [f"  {sentence}" for sentence in (*latency_sentences(content), *sizing_sentences(content))]
        lines += [f"  {line}" for line in (*finance_lines(content), *waterfall_sentences(content))]
    estimates = estimated_prices(content)
    if content.has_plan and len(estimates):
        named = ", ".join(dict.fromkeys(f"{row.table} {row.key}" for row in estimates.head(3).itertuples()))
        more = f" and {len(estimates) - 3} more" if len(estimates) > 3 else ""
        lines.append(f"  Only an estimate supports {named}{more}.")
    lines += [f"  Warning: {warning}" for warning in content.warnings]
    return "\n".join(lines)
