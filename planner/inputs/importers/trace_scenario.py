"""A complete scenario around one workload whose lengths, burstiness and rate come from a request trace.

A trace states neither model nor targets nor place: those are options with visible defaults, and every one
of them is told in the notes. Hours of the day come from a profile of the catalogue, because a public trace
is seldom longer than an hour. The fleet is chosen among offers and sites of the catalogue.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.catalog import shipped_catalog
from planner.inputs.cells import nearest
from planner.inputs.importers.importer import ImportResult, Option, Rejections
from planner.inputs.importers.length_shapes import length_shapes
from planner.inputs.importers.request_trace import TraceSummary
from planner.tables import TABLES
from planner.tables.demand import SIZING

MONTHS_PER_PERIOD = 3


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """What a trace does not state.

    Attributes
    ----------
    workload
        Name of the workload; blank = the file's name.
    business
        Business line that pays.
    model, service_class, region, profile
        Keys of the catalogue tables of that name.
    bins
        Most bins of input and of output lengths, as ``4x3``.
    rate
        Mean requests/s to plan for; None = the trace's own.
    start_date, periods
        First day and number of quarters.
    offers, sites
        Keys of the catalogue's offers and sites to choose among; empty = the cloud sites nearest to the
        region and what is rented on demand there.
    discount_rate
        Per year, as a fraction.
    scale_up_delay
        Seconds until a started replica serves; None = not stated.
    sizing
        Minute of an hour that capacity is sized on (workloads.sizing_statistic).
    """

    workload: str = ""
    business: str = "imported"
    model: str = "Llama-3.1-70B"
    service_class: str = "chat_long_prompt"
    region: str = "n_virginia"
    profile: str = "servegen-m-large"
    bins: str = "3x2"
    rate: float | None = None
    start_date: str = "2027-01-01"
    periods: int = 1
    offers: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    discount_rate: float = 0.08
    scale_up_delay: float | None = None
    sizing: str = "attained"


def scenario_from_trace(
    trace: TraceSummary, options: TraceOptions, path: Path, rejections: Rejections
) -> ImportResult:
    """Return settings, tables, notes and rejected rows for a trace read from ``path``."""
    check_keys(options)
    rate = _planned_rate(trace, options, path)
    workload = options.workload.strip() or path.stem
    shapes = length_shapes(trace.count, trace.input_tokens, trace.output_tokens, _bins(options.bins))
    periods = _periods(options)
    sites = list(options.sites) or nearest_cloud_sites(options.region)
    offers = list(options.offers) or on_demand_offers(sites)
    if not offers:
        raise InputError([Fault("offers", f"nothing is rented on demand at {', '.join(sites)}: name offers")])
    source = "trace_" + re.sub(r"[^0-9a-z]+", "_", path.stem.lower()).strip("_")
    stated = {"source": source, "source_date": trace.first_day, "confidence": "measured"}
    demand = [
        {
            "workload": workload,
            "region": options.region,
            "period": period,
            "requests_per_s": rate,
            "profile": options.profile,
        }
        for period in periods["period"]
    ]
    tables = {
        "periods": periods,
        "workloads": pd.DataFrame([_workload_row(trace, options, workload) | stated]),
        "shapes": shapes.assign(workload=workload, **stated),
        "demand": pd.DataFrame(demand),
        "sources": pd.DataFrame([_source_row(trace, source, path)]),
    }
    settings = {
        "name": workload,
        "description": f"one workload imported from {path.name}, served from rented capacity",
        "discount_rate_fraction": options.discount_rate,
        "catalog_offers": offers,
        "catalog_sites": sites,
    }
    notes = (*_statistics(trace, path, rejections), *_assumptions(trace, options, shapes, rate))
    return ImportResult(settings, tables, notes, rejections.frame())


CATALOG_KEYS = {
    "model": "models",
    "service_class": "service_classes",
    "region": "regions",
    "profile": "profiles",
    "offers": "offers",
    "sites": "sites",
}
"""Options that name rows of a catalogue table."""


def check_keys(options: TraceOptions) -> None:
    """Raise a fault for every option that names nothing in the shipped catalogue."""
    shipped = shipped_catalog()
    faults = []
    for option, table in CATALOG_KEYS.items():
        value = getattr(options, option)
        known = shipped[table].frame[TABLES[table].key[0]].unique().tolist()
        for name in (value,) if isinstance(value, str) else value:
            if name not in known:
                message = f"not in the shipped catalogue{nearest(name, known)}"
                faults.append(Fault(option, message, value=name))
    if options.sizing not in SIZING:
        faults.append(Fault("sizing", f"must be one of {', '.join(SIZING)}", value=options.sizing))
    if faults:
        raise InputError(faults)


def _workload_row(trace: TraceSummary, options: TraceOptions, workload: str) -> dict[str, Any]:
    """Return the workloads row: what the trace shows, and neutral values for what it cannot show."""
    return {
        "workload": workload,
        "business": options.business,
        "model": options.model,
        "service_class": options.service_class,
        "success_fraction": 1.0 - trace.failed / trace.requests,
        "quality_pass_fraction": 1.0,
        "retry_fraction": 0.0,
        "reasoning_ratio": 1.0,
        "cached_input_fraction": 0.0,
        "minute_peak_input_ratio": trace.peak_input_ratio,
        "minute_peak_output_ratio": trace.peak_output_ratio,
        "minute_p99_input_ratio": trace.p99_input_ratio,
        "minute_p99_output_ratio": trace.p99_output_ratio,
        "sizing_statistic": "" if math.isnan(trace.arrival_cv) else options.sizing,
        "scale_up_delay_s": math.nan if options.scale_up_delay is None else options.scale_up_delay,
        "arrival_cv": trace.arrival_cv,
        "input_cv": trace.input_cv,
        "arrival_dispersion": trace.arrival_dispersion,
        "arrival_dispersion_1s": trace.arrival_dispersion_1s,
        "busy_dispersion": trace.busy_dispersion,
        "busy_dispersion_1s": trace.busy_dispersion_1s,
        "prompt_scv": trace.input_length.scv,
        "priority": 1,
        "must_serve_fraction": 1.0,
        "notes": "quality, retries, reasoning and cache hits are not in a trace: neutral values; waiting is computed",
    }


def _source_row(trace: TraceSummary, source: str, path: Path) -> dict[str, Any]:
    return {
        "source": source,
        "title": f"request trace {path.name}",
        "location": path.name,
        "date": trace.first_day,
        "kind": "measurement",
        "notes": f"{trace.requests:,} requests over {trace.span_s:,.0f} s",
    }


def _planned_rate(trace: TraceSummary, options: TraceOptions, path: Path) -> float:
    """Return the requests/s to plan for."""
    if options.rate is not None:
        if options.rate <= 0:
            raise InputError([Fault("rate", "must be above 0 requests/s", value=str(options.rate))])
        return options.rate
    if math.isnan(trace.requests_per_s):
        message = "all requests have the same time, so there is no rate; state one with the option rate"
        raise InputError([Fault(path.name, message)])
    return trace.requests_per_s


def _bins(text: str) -> tuple[int, int]:
    """Return the bins of input and of output lengths.

    >>> _bins("4x3")
    (4, 3)
    """
    match = re.fullmatch(r"\s*([1-9]\d?)\s*[xX]\s*([1-9]\d?)\s*", text)
    if not match:
        raise InputError([Fault("bins", "must be input bins x output bins, such as 3x2", value=text)])
    return int(match[1]), int(match[2])


def _periods(options: TraceOptions) -> pd.DataFrame:
    """Return quarters from the first day on."""
    try:
        start = pd.Timestamp(date.fromisoformat(options.start_date.strip()))
    except ValueError:
        fault = Fault("start_date", "must be a date such as 2027-01-01", value=options.start_date)
        raise InputError([fault]) from None
    if not 1 <= options.periods <= 40:
        raise InputError([Fault("periods", "must be 1 to 40 quarters", value=str(options.periods))])
    starts = [start + pd.DateOffset(months=MONTHS_PER_PERIOD * n) for n in range(options.periods)]
    names = [f"{first.year}-Q{(first.month - 1) // MONTHS_PER_PERIOD + 1}" for first in starts]
    days = [first.date().isoformat() for first in starts]
    return pd.DataFrame({"period": names, "start_date": days, "months": MONTHS_PER_PERIOD})


def nearest_cloud_sites(region: str) -> list[str]:
    """Return the catalogue's cloud sites in a region, else on its continent, else all."""
    shipped = shipped_catalog()
    sites, regions = shipped["sites"].frame, shipped["regions"].frame.set_index("region")["continent"]
    clouds = sites[sites["kind"] == "cloud"]
    here = clouds["region"] == region
    near = clouds["region"].map(regions) == regions.get(region)
    chosen = clouds[here] if here.any() else clouds[near] if near.any() else clouds
    return chosen["site"].tolist()


def on_demand_offers(sites: Sequence[str]) -> list[str]:
    """Return the catalogue's offers rented on demand, power and space included, at one of the sites.

    Reserved terms outlast a short plan and spot units are taken away: the user names those if wanted.
    """
    shipped = shipped_catalog()
    offers, places = shipped["offers"].frame, shipped["sites"].frame
    regions = set(places.loc[places["site"].isin(list(sites)) & places["kind"].eq("cloud"), "region"])
    suits = [
        (not at or not regions.isdisjoint(at)) and (not named or not set(named).isdisjoint(sites))
        for at, named in zip(offers["regions"], offers["sites"], strict=True)
    ]
    hosted = offers["includes"].eq("hosted") & offers["mode"].eq("on_demand")
    return offers.loc[hosted & np.array(suits, dtype=bool), "offer"].tolist()


def _statistics(trace: TraceSummary, path: Path, rejections: Rejections) -> tuple[str, ...]:
    """Return what was read, as sentences with figures."""
    lengths = [
        f"{side} tokens: mean {found.mean:,.1f}, p50 {found.p50:,.0f}, p95 {found.p95:,.0f}, "
        f"max {found.most:,.0f}"
        for side, found in (("input", trace.input_length), ("output", trace.output_length))
    ]
    notes = [
        f"{path.name}: {trace.requests:,} requests over {trace.span_s:,.0f} s = "
        f"{trace.requests_per_s:.4g} requests/s from {trace.first_day}; {rejections.total:,} rows rejected",
        *lengths,
        f"failed (no output): {trace.failed:,} = {trace.failed / trace.requests:.2%}",
    ]
    if trace.complete_minutes < 2:
        return (*notes, "shorter than two minutes: minute peaks are set to 1, burstiness is left blank")
    peaks = (
        f"busiest minute over the mean of its hour: requests {trace.peak_request_ratio:.2f}, "
        f"input tokens {trace.peak_input_ratio:.2f}, output tokens {trace.peak_output_ratio:.2f}; "
        f"variation of requests per minute {trace.arrival_cv:.2f}, of prompt tokens {trace.input_cv:.2f} "
        f"({trace.complete_minutes:,} minutes); "
        f"variance over mean in ten seconds {trace.arrival_dispersion:.2f}, in one {trace.arrival_dispersion_1s:.2f} "
        f"(1 = Poisson); in the busiest minutes {trace.busy_dispersion:.2f} and {trace.busy_dispersion_1s:.2f}"
    )
    return (*notes, peaks)


def _assumptions(
    trace: TraceSummary, options: TraceOptions, shapes: pd.DataFrame, rate: float
) -> tuple[str, ...]:
    """Return what was taken from the options and not from the trace."""
    origin = "from the trace" if options.rate is None else "as asked"
    chosen = f"{len(options.offers)} named offers" if options.offers else "every on-demand offer there"
    where = "the named sites" if options.sites else f"the cloud sites nearest to {options.region}"
    notes = [
        f"planned: {rate:.4g} requests/s ({origin}) in each of {options.periods} quarters, "
        f"{len(shapes)} request shapes",
        f"not in the trace, change if wrong: model {options.model}, service class {options.service_class}, "
        f"region {options.region}, hours of the day from profile {options.profile}",
        f"to choose among: {where}, {chosen}",
    ]
    if trace.complete_minutes >= 2 and options.sizing == "attained":
        notes.append(
            "sized so that the percentile of the targets holds over all requests of an hour, busy minutes and bursts "
            "included; with sizing peak it holds in the busiest minute alone, which takes more"
        )
    if trace.failed:
        notes.append("failed requests load the fleet like completed ones and give no effective tokens")
    return tuple(notes)


TRACE_OPTIONS = (
    Option("workload", "name of the workload; blank = the file's name", default=""),
    Option("business", "business line that pays", default="imported"),
    Option("model", "model the requests call, a key of models", default=TraceOptions().model),
    Option(
        "service_class", "targets that apply, a key of service_classes", default=TraceOptions().service_class
    ),
    Option("region", "where the users are, a key of regions", default=TraceOptions().region),
    Option("profile", "hours of the day, a key of profiles", default=TraceOptions().profile),
    Option("bins", "most bins of input x output lengths", default=TraceOptions().bins),
    Option("rate", "mean requests/s to plan for; blank = the trace's own", "number"),
    Option("start_date", "first day of the plan", default=TraceOptions().start_date),
    Option("periods", "number of quarters", "integer", TraceOptions().periods),
    Option("offers", "catalogue offers to choose among; blank = all on-demand ones at the sites", "list", ()),
    Option("sites", "catalogue sites to choose among; blank = the nearest cloud sites", "list", ()),
    Option("discount_rate", "per year, as a fraction", "number", TraceOptions().discount_rate),
    Option(
        "sizing",
        "minute that capacity is sized on: attained (the percentile over all requests of the hour), peak, p99 or mean",
        default=TraceOptions().sizing,
    ),
    Option("scale_up_delay", "seconds until a started replica serves; blank = not stated", "number"),
)
