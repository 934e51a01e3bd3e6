"""Metrics: every metric with its definition, over the horizon and by period."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from reports import styles
from reports.blocks import filter_block, list_block, time_block, time_columns
from reports.content import Content
from reports.labels import Label, format_for_unit, words
from reports.latency import LATENCY, latency_rows
from reports.layout import finish_page, repeat_title_only, section, start_page

COLUMNS = ["metric", "scope", "period", "value", "unit", "definition"]
POINTS = [
    "point",
    "workload",
    "shape",
    "product",
    "engine_option",
    "phase",
    "ttft_ms",
    "tpot_ms",
    "e2e_ms",
    "latency_pass_fraction",
    "quality_pass_fraction",
    "provider",
    "confidence",
]
QUOTAS = [
    "quota",
    "workload",
    "region",
    "period",
    "beyond",
    "fallback_workload",
    "asked_requests_per_s",
    "within_requests_per_s",
    "degraded_requests_per_s",
    "refused_requests_per_s",
    "asked_mtok",
    "within_mtok",
]
MOST_REFUSED = 200
"""Refused points shown; the plan's own tables hold all of them."""

HORIZON_ONLY = "–"
"""Shown where a metric is not stated for a period (or only by period)."""

REFUSED = ["workload", "shape", "product", "engine", "phase", "reason"]
LABELS = {
    "metric": Label("Metric", width=32),
    "scope": Label("Scope", width=24),
    "definition": Label("Definition", width=24),
    "point": Label("Operating point used", width=32),
    "workload": Label("Workload", width=24),
    "shape": Label("Shape", width=24),
    "product": Label("Product", width=24),
    "quota": Label("Quota", width=32),
    "region": Label("Region", width=24),
    "beyond": Label("Beyond the cap", width=24),
    "fallback_workload": Label("Served as", width=24),
    "asked_requests_per_s": Label("Asked", "requests/s", styles.QUANTITY, 14),
    "within_requests_per_s": Label("Let in", "requests/s", styles.QUANTITY, 14),
    "degraded_requests_per_s": Label("Served as another workload", "requests/s", styles.QUANTITY, 14),
    "refused_requests_per_s": Label("Refused", "requests/s", styles.QUANTITY, 14),
    "asked_mtok": Label("Visible output asked", "Mtok", styles.QUANTITY, 14),
    "within_mtok": Label("Visible output let in", "Mtok", styles.QUANTITY, 14),
    "engine": Label("Engine", width=24),
    "engine_option": Label("Engine option", width=24),
    "phase": Label("Phase", width=11),
    "reason": Label("Reason", width=11),
}


def fill(book: Workbook, content: Content) -> None:
    """Write metrics, the operating points in use with their latency, and the points that were refused."""
    purpose = "The same definitions hold for plans and for measured actuals. n/a: its inputs are not stated."
    page = start_page(book, content, "Metrics", "output", purpose)
    wide = metrics_by_period(content)
    forms = [format_for_unit(str(unit), content.currency) for unit in wide["unit"]]
    block = time_block(
        page,
        wide,
        ["metric", "scope", "definition"],
        list(wide["unit"]),
        forms,
        "Horizon",
        list(wide["horizon"]),
        LABELS,
    )
    filter_block(page, block)
    section(
        page, "Latency and pass rates of the operating points in use", max(time_columns(content), len(POINTS))
    )
    list_block(page, points_in_use(content), POINTS, LABELS)
    pools = latency_rows(content)
    if len(pools):
        title = "Latency under load: percentiles at the most a pool of its smallest size carries, before the network"
        section(page, title, max(time_columns(content), len(LATENCY)))
        list_block(page, pools, LATENCY, LABELS)
    quotas = content.frame("quota_use", QUOTAS)
    if len(quotas):
        title = (
            "Quotas: what is asked, let in, served as another workload and refused (means over the period)"
        )
        section(page, title, max(time_columns(content), len(QUOTAS)))
        list_block(page, quotas, QUOTAS, LABELS)
    section(page, "Operating points that miss a target", max(time_columns(content), len(REFUSED)))
    refused = content.frame("refused_points", REFUSED)
    list_block(page, _with_columns(refused, REFUSED).head(MOST_REFUSED), REFUSED, LABELS)
    repeat_title_only(page)
    finish_page(page, "A6" if len(content.timeline.names) < 3 else "I6")


def metrics_by_period(content: Content) -> pd.DataFrame:
    """Return metric, scope, unit, definition, horizon value and periods; a dash where it is not stated."""
    metrics = content.frame("metrics", COLUMNS)
    names = list(content.timeline.names)
    rows, seen = [], {}
    for record in metrics[COLUMNS].to_dict("records"):
        key = (record["metric"], record["scope"])
        if key not in seen:
            seen[key] = {
                "metric": words(str(record["metric"])),
                "scope": record["scope"],
                "unit": str(record["unit"]).replace("currency", content.currency),
                "definition": record["definition"],
                "horizon": HORIZON_ONLY,
                **dict.fromkeys(names, HORIZON_ONLY),
            }
            rows.append(seen[key])
        period = record["period"]
        seen[key][period if period in names else "horizon"] = record["value"]
    return pd.DataFrame(rows, columns=["metric", "scope", "unit", "definition", "horizon", *names])


def points_in_use(content: Content) -> pd.DataFrame:
    """Return the operating points at which some unit runs."""
    points = _with_columns(content.frame("points", POINTS), POINTS)
    running = set(content.frame("serving", ["point"])["point"].astype(str))
    return points[points["point"].astype(str).isin(running)].reset_index(drop=True)


def _with_columns(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return frame.assign(**{name: "" for name in columns if name not in frame})
