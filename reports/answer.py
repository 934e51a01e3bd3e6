"""The plan in sentences: what was asked, the answer, the proof, the sources; for cover and terminal."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from planner.plan.bound import BOUND_LABEL
from reports.content import Content, number_or_nan
from reports.output import outputs_of
from reports.relief import no_plan_lines

COMMITTED = ("purchase", "lease", "reserved")
MODE_VERBS = {
    "purchase": "buy",
    "lease": "lease",
    "reserved": "reserve",
    "on_demand": "rent on demand",
    "spot": "rent as spot",
}
TRUST = ("estimate", "derived", "quoted", "published", "measured")
"""Confidence words from least to most trusted."""

PRICE_TABLES = ("offers", "tariffs", "sites", "cooling", "power_chains", "facility_options", "fx")


def answer_lines(content: Content) -> list[str]:
    """Return the answer in five lines, or what is missing when there is no plan."""
    if not content.has_plan:
        return no_plan_lines(content)
    return [
        _bound_line(content) if content.is_bound else _orders_line(content),
        _cost_line(content),
        _baseline_line(content),
        _power_line(content),
        _proof_line(content),
    ]


def _orders_line(content: Content) -> str:
    orders = content.frame("orders")
    if orders.empty:
        return _no_orders_line(content)
    parts = []
    for mode, verb in MODE_VERBS.items():
        held = orders[orders["mode"] == mode]
        if len(held):
            units = held_units(held, mode)
            named = ", ".join(
                f"{counted_units(count)} x {product}" for product, count in units.head(3).items()
            )
            more = f" and {len(units) - 3} more products" if len(units) > 3 else ""
            parts.append(f"{verb}{' ' if mode in COMMITTED else ' up to '}{named}{more}")
    services = _services(content)
    parts += [f"buy tokens of {services}"] if services else []
    parts += _taken_out(content)
    day = "order_by_date" if "order_by_date" in orders else "order_date"
    first = orders[orders["mode"].isin(COMMITTED)][day].min()
    due = "" if pd.isna(first) else f". First order due by {pd.Timestamp(first).date()}"
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}{due}."


def _no_orders_line(content: Content) -> str:
    """Return what serves where no unit is ordered; a lot that is taken out early is still a decision."""
    forecast = content.frame("demand", ["requests_per_s"])
    runs = content.frame("serving", ["requests_per_s"])
    by_fleet = bool((runs["requests_per_s"].astype(float) > 0).any())
    services = _services(content)
    taken = "".join(f"; {part}" for part in _taken_out(content))
    if not float(forecast["requests_per_s"].sum()):
        return f"Order nothing: no demand is forecast{taken}."
    if services:
        both = (
            f"the installed fleet and tokens of {services} serve"
            if by_fleet
            else f"tokens of {services} serve"
        )
        return f"Order no units: {both} the demand{taken}."
    if by_fleet:
        return f"Order nothing: the installed fleet serves the demand{taken}."
    return f"Order nothing: no optional demand is worth its cost{taken}."


def _services(content: Content) -> str:
    """Return the token services in use, the most used first; nothing where there are none."""
    sent = content.frame("api", ["api_offer", "requests_per_s"])
    used = sent["requests_per_s"].astype(float).groupby(sent["api_offer"]).sum()
    names = list(used[used > 0].sort_values(ascending=False, kind="stable").index)
    more = f" and {len(names) - 3} more services" if len(names) > 3 else ""
    return ", ".join(map(str, names[:3])) + more


def _bound_line(content: Content) -> str:
    """Return what a relaxation proves, and the fractions of units it stands on, which nobody can order."""
    fleet = content.frame("fleet", ["product", "period", "units"])
    most = fleet.groupby(["product", "period"])["units"].sum().astype(float).groupby("product").max()
    most = most[most > 0].sort_values(ascending=False, kind="stable")
    named = ", ".join(f"{units:,.4g} x {product}" for product, units in most.head(3).items())
    more = f" and {len(most) - 3} more products" if len(most) > 3 else ""
    stands = f" It stands on up to {named}{more}, fractions of units that nobody can order." if named else ""
    key, unit = _minimised(content)
    least = f"{short_number(content.number(key))} {content.currency}{unit}"
    return f"{BOUND_LABEL.capitalize()}: no plan in whole units costs less than {least}.{stands}"


def _minimised(content: Content) -> tuple[str, str]:
    """Return the headline number that was minimised and its unit after the currency."""
    outputs = outputs_of(content)
    if (
        content.headline.get("minimised", content.settings.get("objective")) == "unit-cost"
        and len(outputs) == 1
    ):
        return outputs[0].cost, f" per {outputs[0].words}"
    return "objective", ""


def _taken_out(content: Content) -> list[str]:
    """Return what is taken out early, of existing lots and of orders, by the start of which period; nothing if none."""
    lots = content.frame("retirements", ["offer", "period", "units"]).rename(
        columns={"period": "sold_period"}
    )
    again = content.frame("resales", ["offer", "sold_period", "units"])
    both = [frame[["offer", "sold_period", "units"]] for frame in (lots, again) if len(frame)]
    if not both:
        return []
    out = pd.concat(both, ignore_index=True).groupby(["offer", "sold_period"], sort=False)["units"].sum()
    named = ", ".join(
        f"{counted_units(units)} x {offer} in {period}" for (offer, period), units in out.head(3).items()
    )
    more = f" and {len(out) - 3} more" if len(out) > 3 else ""
    return [f"take out {named}{more}"]


def held_units(orders: pd.DataFrame, mode: str) -> pd.Series:
    """Return units per product: ordered in total, or for rented ones the most held in one period."""
    if mode in COMMITTED:
        return orders.groupby("product")["units"].sum().sort_values(ascending=False, kind="stable")
    by_period = orders.groupby(["product", "period"])["units"].sum()
    return by_period.groupby("product").max().sort_values(ascending=False, kind="stable")


def counted_units(units: float) -> str:
    """Return a number of units; rent by the hour may hold a fraction of one on average.

    >>> counted_units(1_200.0), counted_units(0.25)
    ('1,200', '0.25')
    """
    return f"{units:,.0f}" if units >= 10 or float(units).is_integer() else f"{units:.2g}"


def _cost_line(content: Content) -> str:
    currency = content.currency
    total = short_number(content.number("total_cost"))
    outputs = [one for one in outputs_of(content) if content.number(one.column) > 0]
    owed = content.number("liability_after_horizon")
    charged = number_or_nan((content.headline.get("finance") or {}).get("charged_for_commitments"))
    part = f", of which {short_number(charged)} is charged to this plan" if charged >= 0 else ""
    after = (
        f" Terms and peaks billed after the horizon still owe {short_number(owed)} {currency}{part}."
        if owed > 0
        else ""
    )
    if not outputs:
        return f"Total cost {total} {currency}, present value; nothing is served.{after}"
    made = " and ".join(
        f"{short_number(content.number(f'{one.column}_discounted'))} {one.amount}" for one in outputs
    )
    rates = ", ".join(
        f"{short_number(content.number(one.cost))} {currency} per {one.words}" for one in outputs
    )
    formula = " and ".join(short_number(content.number(one.accounting)) for one in outputs)
    each = "both" if len(outputs) == 1 else "each"
    return (
        f"Total cost {total} {currency} over {made}, {each} at present value: {rates}; {formula} by the accounting "
        f"formula.{after}"
    )


def _baseline_line(content: Content) -> str:
    baselines = content.frame("baselines", ["baseline", "status", "total_cost", "served_fraction"])
    total = content.number("total_cost")
    parts = []
    for row in baselines.itertuples(index=False):
        cost = number_or_nan(row.total_cost)
        if math.isfinite(cost) and total:
            parts.append(f"{row.baseline} costs {_difference(cost / total - 1)}")
        elif math.isfinite(cost):
            parts.append(f"{row.baseline} costs {short_number(cost)} {content.currency}")
        else:
            # What it serves and costs all the same, or why there is no such plan.
            detail = getattr(row, "detail", None)
            more = detail.split("\n")[0] if isinstance(detail, str) else ""
            parts.append(f"{row.baseline} is {row.status}" + (f" ({more})" if more else ""))
    this = "bound" if content.is_bound else "plan"
    return f"Against this {this}: {'; '.join(parts)}." if parts else "No baseline was computed."


def _difference(fraction: float) -> str:
    """Return a relative difference in percent with its sign, none where it rounds to nothing.

    >>> _difference(0.348), _difference(-0.00001)
    ('+34.8 %', '0.0 %')
    """
    percent = round(100 * fraction, 1)
    return f"{percent:+.1f} %" if percent else "0.0 %"


def _power_line(content: Content) -> str:
    power = content.frame("site_power", ["site", "period", "level", "peak_kw", "usable_kw"])
    limited = power[power["usable_kw"].notna() & (power["usable_kw"] > 0)]
    if limited.empty:
        return "No site has a power limit."
    share = (limited["peak_kw"] / limited["usable_kw"]).astype(float)
    worst = limited.iloc[int(np.argmax(share.to_numpy()))]
    return (
        f"Tightest power: {worst['site']} in {worst['period']}, {worst['level']} level, "
        f"{worst['peak_kw']:,.0f} of {worst['usable_kw']:,.0f} kW ({100 * share.max():.0f} %)."
    )


def _proof_line(content: Content) -> str:
    gap = content.number("gap")
    if content.is_bound:
        return f"Status {content.status}: the linear relaxation, in which units are divisible.{_rates_text(content)}"
    meaning = (
        "proven within the requested gap"
        if content.status == "optimal"
        else "stopped at a limit before proven"
    )
    audit = content.frame("checks", ["passed"])
    text = f"Status {content.status}: {meaning}; gap {100 * gap:.3f} %"
    if "gap_any_sizes" in content.headline:
        text += f", {100 * content.number('gap_any_sizes'):.3f} % to any plan with pools of other sizes"
    if len(audit):
        passed = int(audit["passed"].astype(bool).sum())
        text += f"; audit without the solver: {passed} of {len(audit)} checks pass"
    return f"{text}.{_rates_text(content)}"


RATES_SHARE = r"^(?P<counted>tokens|requests) on (?P<provider>.+) rates$"
"""Metrics that say which share of the output rests on which rates."""


def _rates_text(content: Content) -> str:
    """Return whose rates the plan rests on, by tokens, and how far they may be off, as one more sentence."""
    metrics = content.frame("metrics", ["metric", "scope", "value"])
    whole = metrics[metrics["scope"].eq("all")].drop_duplicates("metric").set_index("metric")["value"]
    said = whole.index.str.extract(RATES_SHARE).set_index(whole.index).dropna()
    if said.empty:
        return ""
    shares = whole[said.index].astype(float).sort_values(ascending=False)
    named = ", ".join(f"{said.loc[name, 'provider']} {100 * share:.0f} %" for name, share in shares.items())
    low, high = (float(whole[f"rate band, {end}"]) for end in ("low", "high"))
    own = [float(whole[f"rate band with engine tuning, {end}"]) for end in ("low", "high")]
    return (
        f" Rates by {said['counted'].iloc[0]}: {named}; true rates are x{low:.2g} to x{high:.2g} of the planned, "
        f"x{own[0]:.2g} to x{own[1]:.2g} with the tuning of your own engines."
    )


def asked_rows(content: Content) -> list[tuple[str, object]]:
    """Return the question: objective, horizon, size of the choice, cases."""
    timeline, settings = content.timeline, content.settings
    horizon = (
        f"{timeline.names[0]} to {timeline.names[-1]}, {len(timeline.names)} periods"
        if timeline.names
        else "none"
    )
    if timeline.names and timeline.start_date[0]:
        horizon += f", {timeline.months.sum():,.1f} months from {timeline.start_date[0]}"
    goal = str(content.headline.get("minimised", settings.get("objective")))
    output = " and ".join(one.words for one in outputs_of(content))
    objective = {"unit-cost": f"least cost per {output}", "cost": "least total cost"}
    return [
        ("Objective", objective.get(goal, goal)),
        ("Horizon", horizon),
        ("Workloads", _names(content, "workloads", "workload")),
        ("Sites", _names(content, "sites", "site")),
        ("Offers to choose from", f"{len(content.table('offers'))}"),
        ("Discount rate per year", settings.get("discount_rate_fraction")),
        (
            "Cases",
            ", ".join(f"{name} {settings.get(f'{name}_case')}" for name in ("demand", "lead", "cooling")),
        ),
    ]


def _names(content: Content, table: str, column: str) -> str:
    frame = content.table(table)
    names = list(frame[column].astype(str)) if column in frame else []
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(names[:6]) + more or "none"


def proof_rows(content: Content) -> list[tuple[str, object]]:
    """Return status, bound, gap, size, date and identity of the input."""
    head = content.headline
    rows: list[tuple[str, object]] = [("Status", BOUND_LABEL if content.is_bound else content.status)]
    if content.has_plan:
        rows += [
            (f"Objective ({content.currency})", content.number("objective")),
            (f"Bound ({content.currency})", content.number("bound")),
            ("Gap reached", content.number("gap")),
            *(
                [("Gap at pools of any sizes", content.number("gap_any_sizes"))]
                if "gap_any_sizes" in head
                else []
            ),
            ("Gap requested", head.get("requested_gap", content.settings.get("gap"))),
            (
                "Solver",
                f"{content.number('solve_seconds'):.1f} s; build {content.number('build_seconds'):.1f} s",
            ),
            ("Size", f"{head.get('variables', 0):,} variables, {head.get('constraints', 0):,} constraints"),
        ]
    return [*rows, ("Date of this report", content.written_on), ("Input hash", content.input_hash)]


def source_rows(content: Content) -> list[tuple[str, object]]:
    """Return the oldest and the weakest source used."""
    sources = sources_of(content)
    if sources.empty:
        return [("Sources", "none stated")]
    weakest = _weakest(sources)
    dated = sources[sources["date"].notna() & (sources["date"].astype(str) != "")]
    oldest = dated.sort_values("date", kind="stable").iloc[0] if len(dated) else None
    rows: list[tuple[str, object]] = [("Sources used", f"{len(sources)}, listed on the sheet Assumptions")]
    if oldest is not None:
        rows.append(("Oldest source", f"{oldest['source']}, {oldest['date']}: {oldest['title']}"))
    rows.append(("Weakest source", f"{weakest['source']} ({weakest['confidence']}): {weakest['title']}"))
    return rows


def sources_of(content: Content) -> pd.DataFrame:
    """Return the sources the plan rests on; ``confidence`` is the weakest of the rows each one supports."""
    wanted = ["source", "title", "location", "date", "kind", "confidence", "used_by"]
    sources = content.frame("sources", wanted).rename(columns={"weakest_confidence": "confidence"})
    return sources.assign(**{name: "" for name in wanted if name not in sources})[wanted]


def _weakest(sources: pd.DataFrame) -> pd.Series:
    rank = sources["confidence"].astype(str).map({word: place for place, word in enumerate(TRUST)})
    return sources.iloc[int(np.argmin(rank.fillna(0).to_numpy()))]


def estimated_prices(content: Content) -> pd.DataFrame:
    """Return the rows of price tables that are estimates, those the plan orders first.

    Returns
    -------
    DataFrame with columns table, key, confidence, source, notes.
    """
    wanted = ["table", "key", "confidence", "source", "notes"]
    estimates = content.frame("estimates", wanted)
    estimates = estimates.assign(**{name: "" for name in wanted if name not in estimates})[wanted]
    return estimates[estimates["table"].isin(PRICE_TABLES)].reset_index(drop=True)


ROUNDING = 1e-9
"""What sums of money leave when they cancel."""


def short_number(value: float) -> str:
    """Return a number with four significant digits and thousands separators.

    >>> short_number(1913524.07), short_number(0.412345), short_number(float("nan"))
    ('1,913,524', '0.4123', 'n/a')
    >>> short_number(1.46e-11)
    '0'
    """
    if not math.isfinite(value):
        return "n/a"
    if abs(value) < ROUNDING:
        return "0"
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
