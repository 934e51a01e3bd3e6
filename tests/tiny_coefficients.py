"""A hand-made case that every constraint family says something about, small enough to read its matrix.

Two halves of a year with two blocks each. Boxes serve *chat* (two shapes, a fifth optional) in the hall and in the
cloud; at the campus racks prefill and boxes decode *code*, which the cloud's boxes serve whole. The numbers are
chosen apart from one another, so that a coefficient in a golden text can be told by its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.electricity.bill_minimum import Minimums
from planner.coefficients.electricity.billing import Billing
from planner.coefficients.facility.bridging import Bridging
from planner.coefficients.facility.colocation import Colocation
from planner.coefficients.facility.commissioning import Commissioning
from planner.coefficients.facility.energisation import Energisation
from planner.coefficients.facility.environment import Environment
from planner.inputs import Settings

STAND = ["offer", "site", "cooling"]
PAID = ["line", "kind", "paid_period", "timing", "amount"]
DAY, NIGHT = 1_500.0, 2_844.0


def tiny(**changed: Any) -> Coefficients:
    """Return the case; named frames are put in the place of its own."""
    parts = (
        _time()
        | _service()
        | _fleet()
        | _sites()
        | {
            "costs": costs(),
            "energised": _path(),
            "bridging": _generators(),
            "colocation": _contract(),
            "commissioning": _tests(),
            "deferrable": _hours(),
        }
    )
    return replace(Coefficients(settings=settings(), **parts), **changed)


def settings(**changed: Any) -> Settings:
    return Settings(name="tiny", discount_rate_fraction=0.1, objective="cost", gap=0.0, **changed)


def table(columns: str, *rows: tuple[Any, ...]) -> pd.DataFrame:
    """Return a frame from blank-separated column names and rows; text columns are ``str`` as everywhere."""
    return pd.DataFrame(list(rows), columns=columns.split())


def _time() -> Mapping[str, Any]:
    periods = table(
        "period ordinal start_date months hours start_weeks start_years mid_years",
        ("t1", 0, pd.Timestamp("2027-01-01"), 6.0, DAY + NIGHT, 0.0, 0.0, 0.25),
        ("t2", 1, pd.Timestamp("2027-07-01"), 6.0, DAY + NIGHT, 26.0, 0.5, 0.75),
    ).assign(months_equivalent=6.0, years=0.5)
    discounts = {f"discount_{name}": 1.1 ** -periods[f"{name}_years"] for name in ("start", "mid")}
    periods = periods.assign(**discounts, discount_end=1.1**-1.0).set_index("period")
    blocks = table(
        "period block hours label",
        ("t1", "day", DAY, "day"),
        ("t1", "night", NIGHT, "night"),
        ("t2", "day", DAY, "day"),
        ("t2", "night", NIGHT, "night"),
    )
    return {"periods": periods, "blocks": blocks, "assigned_cells": pd.DataFrame()}


def _service() -> Mapping[str, Any]:
    return {
        "demand": table(
            "workload region period block requests_per_s",
            ("chat", "east", "t1", "day", 8.0),
            ("chat", "east", "t1", "night", 4.0),
            ("chat", "east", "t2", "day", 12.0),
            ("chat", "east", "t2", "night", 6.0),
            ("chat", "west", "t2", "day", 2.0),
            ("code", "east", "t1", "day", 3.0),
            ("code", "east", "t2", "day", 5.0),
        ),
        "shapes": table(
            "workload shape share_fraction input_tokens output_tokens reference_mtok_per_request",
            ("chat", "short", 0.75, 500.0, 100.0, 100e-6),
            ("chat", "long", 0.25, 2_000.0, 400.0, 400e-6),
            ("code", "any", 1.0, 8_000.0, 200.0, 200e-6),
        ),
        "workloads": table(
            "workload must_serve_fraction value_per_mtok spot_fraction guaranteed_share",
            ("chat", 0.8, 50.0, float("nan"), 0.0),
            ("code", 1.0, float("nan"), float("nan"), 0.0),
        ).set_index("workload"),
        # The campus is too far for chat, the cloud too far for the west, and the hall answers the west late.
        "routes": table(
            "workload region site ttft_class rtt_ms",
            ("chat", "east", "hall", "near", 5.0),
            ("chat", "east", "cloud", "near", 20.0),
            ("chat", "west", "hall", "far", 80.0),
            ("code", "east", "campus", "near", 40.0),
            ("code", "east", "cloud", "near", 20.0),
        ),
        "runs": table(
            "point site cooling workload shape ttft_class product phase requests_per_s peak_ratio added_kw "
            "effective_mtok_per_request generated_mtok_per_request",
            ("short", "hall", "air", "chat", "short", "near", "box", "mixed", 5.0, 1.3, 5.0, 100e-6, 150e-6),
            ("long", "hall", "air", "chat", "long", "near", "box", "mixed", 2.0, 1.2, 6.0, 400e-6, 600e-6),
            ("short late", "hall", "air", "chat", "short", "far", "box", "mixed", 4.0, 1.3, 4.5, 100e-6, 150e-6),
            ("long late", "hall", "air", "chat", "long", "far", "box", "mixed", 1.5, 1.2, 5.5, 400e-6, 600e-6),
            ("short", "cloud", "hosted", "chat", "short", "near", "box", "mixed", 5.5, 1.3, 0.0, 100e-6, 150e-6),
            ("long", "cloud", "hosted", "chat", "long", "near", "box", "mixed", 2.2, 1.2, 0.0, 400e-6, 600e-6),
            ("whole", "campus", "liquid", "code", "any", "near", "box", "mixed", 1.0, 1.4, 6.5, 200e-6, 200e-6),
            ("whole", "cloud", "hosted", "code", "any", "near", "box", "mixed", 1.1, 1.4, 0.0, 200e-6, 200e-6),
            ("in", "campus", "liquid", "code", "any", "near", "rack", "prefill", 20.0, 1.5, 30.0, 0.0, 0.0),
            ("out", "campus", "liquid", "code", "any", "near", "box", "decode", 3.0, 1.1, 7.0, 200e-6, 200e-6),
        ),
    }  # fmt: skip


def _fleet() -> Mapping[str, Any]:
    """Purchases of boxes take a period; racks and leases serve at once, a lease for one period only."""
    return {
        "stands": table(
            "offer site cooling product chip mode includes provisioned_kw idle_kw racks availability_fraction",
            ("box purchase", "hall", "air", "box", "b", "purchase", "hardware", 10.0, 3.0, 0.5, 0.98),
            ("box purchase", "campus", "liquid", "box", "b", "purchase", "hardware", 10.0, 3.0, 0.25, 0.98),
            ("rack purchase", "campus", "liquid", "rack", "r", "purchase", "hardware", 40.0, 8.0, 1.0, 0.95),
            ("box lease", "hall", "air", "box", "b", "lease", "hardware", 10.0, 3.0, 0.5, 0.98),
            ("box reserved", "cloud", "hosted", "box", "b", "reserved", "hosted", 0.0, 0.0, 0.0, 0.98),
            ("box rent", "cloud", "hosted", "box", "b", "on_demand", "hosted", 0.0, 0.0, 0.0, 0.98),
            ("box hour", "cloud", "hosted", "box", "b", "spot", "hosted", 0.0, 0.0, 0.0, 0.9),
            ("fleet:old", "hall", "air", "box", "b", "owned", "hardware", 10.0, 3.0, 0.5, 0.98),
        ),
        "orders": table(
            "offer site cooling period in_service_ordinal service_years",
            ("box purchase", "hall", "air", "t1", 1, 5.0),
            ("box purchase", "campus", "liquid", "t1", 1, 5.0),
            ("rack purchase", "campus", "liquid", "t1", 0, 5.0),
            ("rack purchase", "campus", "liquid", "t2", 1, 5.0),
            ("box lease", "hall", "air", "t1", 0, 0.5),
            ("box lease", "hall", "air", "t2", 1, 0.5),
            ("box reserved", "cloud", "hosted", "t1", 0, 1.0),
        ),
        "alive": table(
            "offer site cooling period alive_period",
            ("box purchase", "hall", "air", "t1", "t2"),
            ("box purchase", "campus", "liquid", "t1", "t2"),
            ("rack purchase", "campus", "liquid", "t1", "t1"),
            ("rack purchase", "campus", "liquid", "t1", "t2"),
            ("rack purchase", "campus", "liquid", "t2", "t2"),
            ("box lease", "hall", "air", "t1", "t1"),
            ("box lease", "hall", "air", "t2", "t2"),
            ("box reserved", "cloud", "hosted", "t1", "t1"),
            ("box reserved", "cloud", "hosted", "t1", "t2"),
        ),
        "rents": table(
            "offer site cooling period rent_step",
            ("box rent", "cloud", "hosted", "t1", "period"),
            ("box rent", "cloud", "hosted", "t2", "period"),
            ("box hour", "cloud", "hosted", "t1", "hour"),
            ("box hour", "cloud", "hosted", "t2", "hour"),
        ),
        "fleet_units": table("offer site cooling period units", ("fleet:old", "hall", "air", "t1", 3.0)),
        # The last row limits an order that cannot be made any more: it has no row in the model.
        "supply": table(
            "offer period units",
            ("box purchase", "t1", 7.0),
            ("rack purchase", "t2", 0.0),
            ("box rent", "t1", 6.0),
            ("box hour", "t1", 2.0),
            ("box purchase", "t2", 9.0),
        ),
    }


def _sites() -> Mapping[str, Any]:
    nan = float("nan")
    charges = "site component period months price_per_kw_month"
    return {
        "pue": table(
            "site cooling period block pue",
            *(("hall", "air", t, b, pue) for t, b, pue in
              (("t1", "day", 1.5), ("t1", "night", 1.25), ("t2", "day", 1.6), ("t2", "night", 1.3))),
            *(("campus", "liquid", t, b, pue) for t, b, pue in
              (("t1", "day", 1.2), ("t1", "night", 1.1), ("t2", "day", 1.2), ("t2", "night", 1.1))),
            *(("cloud", "hosted", t, b, 1.0) for t in ("t1", "t2") for b in ("day", "night")),
        ),
        "design_pue": table(
            "site cooling period pue headroom_ratio",
            ("hall", "air", "t1", 1.7, 1.0), ("hall", "air", "t2", 1.8, 1.0),
            ("campus", "liquid", "t1", 1.25, 1.0), ("campus", "liquid", "t2", 1.25, 1.0),
            ("cloud", "hosted", "t1", 1.0, 1.0), ("cloud", "hosted", "t2", 1.0, 1.0),
        ),
        "prices": pd.DataFrame(),
        "site_limits": table(
            "site period kind usable_kw headroom_fraction it_limit_kw facility_limit_kw racks",
            ("hall", "t1", "colo", 200.0, 0.1, 150.0, nan, 12.0),
            ("hall", "t2", "colo", 300.0, 0.1, 150.0, nan, 12.0),
            ("campus", "t1", "owned", 500.0, 0.2, nan, 450.0, nan),
            ("campus", "t2", "owned", 500.0, 0.2, nan, 450.0, nan),
        ),
        "halls": table(
            "site cooling heat_limit_of existing_kw capacity_kw owned",
            ("hall", "air", "air", 0.0, 130.0, False), ("campus", "liquid", "liquid", 80.0, nan, True),
            ("campus", "air", "air", 60.0, nan, True),
        ),
        "builds": table(
            "site cooling period ordinal in_service_ordinal ready_date",
            ("campus", "liquid", "t1", 0, 1, pd.Timestamp("2027-05-20")),
        ),
        "retrofits": table(
            "site from_cooling cooling period out_ordinal in_service_ordinal ready_date",
            ("campus", "air", "liquid", "t1", 0, 1, pd.Timestamp("2027-06-20")),
        ),
        "openings": table("site period", ("campus", "t1"), ("campus", "t2")),
        "peaks": table(
            charges,
            ("hall", "afternoon", "t1", 6.0, 9.0),
            ("hall", "afternoon", "t2", 6.0, 9.0),
            ("hall", "any hour", "t2", 6.0, 4.0),
        ),
        "peak_blocks": table(
            "site component period block",
            ("hall", "afternoon", "t1", "day"),
            ("hall", "afternoon", "t2", "day"),
            ("hall", "any hour", "t2", "day"),
            ("hall", "any hour", "t2", "night"),
        ),
        "billing": billing(),
        "environment": environment(),
        "budgets": table(
            "budget kind period site limit",
            ("capex of the first half", "capex", "t1", nan, 1_900_000.0),
            ("running the hall", "opex", nan, "hall", 700_000.0),
            ("everything", "total", nan, nan, 9_000_000.0),
        ),
    }  # fmt: skip


def billing() -> Billing:
    """Return a ratchet, three ladders of tiers at the hall, a floor and a charge on named hours at the campus."""
    nan = float("nan")
    return Billing(
        charges=table(
            "site component period month price_per_kw floor_kw",
            ("hall", "summer", "t1", "2027-06", 0.0, 0.0),
            ("hall", "summer", "t2", "2027-07", 11.0, 25.0),
            ("hall", "summer", "t2", "2027-08", 12.0, 0.0),
            ("campus", "contract", "t1", "2027-06", 7.0, 60.0),
            ("hall", "hours: measured peak", "t2", "2027-08", 0.0, 0.0),
            ("campus", "4cp", "t1", "2027-06", 0.0, 0.0),
            ("campus", "4cp", "t2", "2027-07", 5.0, 0.0),
            ("campus", "4cp", "t2", "2027-08", 6.0, 30.0),
        ).assign(
            billed=[False, True, True, True, False, False, True, True],
            named=[False] * 5 + [True] * 3,
            after=False,
            history_kw=[0.0] * 6 + [20.0, 0.0],
            owed_per_kw=[0.0] * 5 + [8.0, 9.0, 0.0],
            value_per_kw=[0.0] * 5 + [7.5, 8.5, 0.0],
        ),
        peak_blocks=table(
            "site component period month block",
            ("hall", "summer", "t1", "2027-06", "day"),
            ("hall", "summer", "t2", "2027-07", "day"),
            ("hall", "summer", "t2", "2027-08", "day"),
            ("hall", "summer", "t2", "2027-08", "night"),
            ("campus", "contract", "t1", "2027-06", "night"),
            ("hall", "hours: measured peak", "t2", "2027-08", "day"),
            ("hall", "hours: measured peak", "t2", "2027-08", "night"),
            ("campus", "4cp", "t1", "2027-06", "day"),
            ("campus", "4cp", "t2", "2027-07", "day"),
        ),
        look_back=table(
            "site component period month past_period past_month ratchet_fraction",
            ("hall", "summer", "t2", "2027-07", "t1", "2027-06", 0.75),
            ("hall", "summer", "t2", "2027-08", "t1", "2027-06", 0.75),
            ("hall", "summer", "t2", "2027-08", "t2", "2027-07", 0.75),
        ),
        coincident=table(
            "site component period month past_period past_month share",
            ("campus", "4cp", "t2", "2027-07", "t1", "2027-06", 0.5),
            ("campus", "4cp", "t2", "2027-08", "t1", "2027-06", 0.25),
            ("campus", "4cp", "t2", "2027-08", "t2", "2027-07", 0.75),
        ),
        tiers=table(
            "site ladder period month tier price_step width unit falls",
            ("hall", "use", "t2", "2027-07", 0, 0.0, 20.0, "kwh", False),
            ("hall", "use", "t2", "2027-07", 1, 30.0, 40.0, "kwh", False),
            ("hall", "use", "t2", "2027-07", 2, -10.0, nan, "kwh", True),
            ("hall", "hours", "t2", "2027-08", 0, 0.0, 0.2, "kwh_per_kw", False),
            ("hall", "hours", "t2", "2027-08", 1, -20.0, 0.3, "kwh_per_kw", True),
            ("hall", "hours", "t2", "2027-08", 2, 5.0, nan, "kwh_per_kw", False),
            ("hall", "kw", "t2", "2027-07", 0, 0.0, 50.0, "kw", False),
            ("hall", "kw", "t2", "2027-07", 1, -3.0, nan, "kw", True),
        ),
        ladders=table(
            "site ladder period month unit component most most_kw attained",
            ("hall", "use", "t2", "2027-07", "kwh", "use: measured peak", 223.2, 300.0, False),
            ("hall", "hours", "t2", "2027-08", "kwh_per_kw", "hours: measured peak", 223.2, 300.0, True),
            ("hall", "kw", "t2", "2027-07", "kw", "summer", 300.0, 300.0, False),
        ),
        fills=table(
            "site ladder period month block mwh_per_kw",
            ("hall", "use", "t2", "2027-07", "day", 0.25),
            ("hall", "use", "t2", "2027-07", "night", 0.494),
            ("hall", "hours", "t2", "2027-08", "day", 0.26),
            ("hall", "hours", "t2", "2027-08", "night", 0.484),
        ),
        minimums=_minimums(),
    )


def environment() -> Environment:
    """Return a contract on a share and one on a profile, and limits on carbon and water."""
    nan = float("nan")
    return Environment(
        ppas=table(
            "ppa site period block hours share_fraction kw price_per_kwh tariff_per_kwh carbon_t_per_kwh",
            ("wind", "hall", "t1", "day", DAY, 0.4, nan, 0.07, 0.10, 0.0003),
            ("wind", "hall", "t1", "night", NIGHT, 0.4, nan, 0.07, 0.06, 0.0003),
            ("hydro", "campus", "t2", "day", DAY, nan, 25.0, 0.05, 0.10, 0.0002),
        ),
        limits=table(
            "limit kind site period year amount",
            ("carbon of 2027", "carbon_t", nan, nan, 2027.0, 90.0),
            ("carbon of the hall", "carbon_t", "hall", "t1", nan, 30.0),
            ("water", "water_m3", "campus", nan, nan, 700.0),
        ),
        carbon=table(
            "site period block t_per_kw",
            *(
                (s, t, b, 0.0004 * hours)
                for s in ("hall", "campus")
                for t in ("t1", "t2")
                for b, hours in (("day", DAY), ("night", NIGHT))
            ),
        ),
        water=table(
            "site cooling period block m3_per_kw",
            ("campus", "liquid", "t1", "day", 1.5),
            ("campus", "liquid", "t2", "day", 1.75),
            ("hall", "air", "t2", "day", 2.5),
        ),
    )


def _minimums() -> Minimums:
    """Return a monthly minimum at the campus in June and a yearly one after it, due in August."""
    june, august = ("campus", "month", "t1", "2027-06"), ("campus", "year", "t2", "2027-08")
    label = "site component period month"
    return Minimums(
        due=table(label, june, august),
        owed=table(
            f"{label} count_period amount",
            (*june, "t1", 9_000.0),
            (*august, "t1", 4_000.0),
            (*august, "t2", 8_000.0),
        ),
        counted={
            "grid_kw": table(
                f"{label} count_period block amount",
                (*june, "t1", "day", 25.0),
                (*june, "t1", "night", 30.0),
                (*august, "t2", "day", 26.0),
            ),
            "billed_kw": table(
                f"{label} count_component count_period count_month amount",
                (*june, "contract", "t1", "2027-06", 7.0),
                (*august, "contract", "t1", "2027-06", 7.0),
            ),
            "bill_tier": table(f"{label} ladder count_period count_month tier amount"),
            "open": table(f"{label} count_period amount", (*june, "t1", 150.0), (*august, "t2", 300.0)),
            "minimum_topup": table(
                f"{label} count_component count_period count_month amount",
                (*august, "month", "t1", "2027-06", 1.0),
            ),
        },
    )


def _hours() -> pd.DataFrame:
    """Return days of three hours, two of the block day and one of the block night, in which chat may wait for one."""
    return table(
        "workload region period month day_type hour_utc block block_share arriving most_waiting next_hour",
        ("chat", "east", "t1", 1, "all", 0, "day", 0.5, 9.0, 9.0, 1),
        ("chat", "east", "t1", 1, "all", 1, "day", 0.5, 7.0, 7.0, 2),
        ("chat", "east", "t1", 1, "all", 2, "night", 1.0, 4.0, 4.0, 0),
    )


def _path() -> Energisation:
    """Two items at the campus: the transformer carries all that the grid gives, the switchgear less until one more."""
    return Energisation(
        path=table(
            "site item period carried_kw",
            ("campus", "transformer", "t1", 500.0),
            ("campus", "transformer", "t2", 500.0),
            ("campus", "switchgear", "t1", 480.0),
            ("campus", "switchgear", "t2", 480.0),
        ),
        modules=table(
            "site module item period kw in_service_ordinal ready_date",
            ("campus", "more gear", "switchgear", "t1", 60.0, 1, pd.Timestamp("2027-06-15")),
            ("campus", "second transformer", "transformer", "t1", 250.0, 0, pd.Timestamp("2027-01-01")),
            ("campus", "second transformer", "transformer", "t2", 250.0, 1, pd.Timestamp("2027-07-01")),
        ),
        most=table(
            "site module modules stands_by",
            ("campus", "more gear", 1.0, False),
            ("campus", "second transformer", 2.0, False),
        ),
        waiting=table(
            "offer site cooling period arriving",
            ("box purchase", "campus", "liquid", "t2", 0.0),
            ("rack purchase", "campus", "liquid", "t1", 2.0),
            ("rack purchase", "campus", "liquid", "t2", 0.0),
        ),
    )


def _generators() -> Bridging:
    """Two turbines at the campus, of which one may no longer stand in the second half, and a generator of the hall."""
    return Bridging(
        stands=table(
            "site generator period ordinal max_kw",
            ("campus", "turbine", "t1", 0, 70.0),
            ("campus", "turbine", "t2", 1, 70.0),
            ("campus", "permit", "t1", 0, 45.0),
            ("hall", "genset", "t2", 1, 30.0),
        ),
        terms=table(
            "site generator period kept_period tail_months",
            ("campus", "turbine", "t1", "t1", float("nan")),
            ("campus", "turbine", "t1", "t2", 2.0),
            ("campus", "turbine", "t2", "t2", float("nan")),
            ("campus", "permit", "t1", "t1", float("nan")),
            ("campus", "permit", "t1", "t2", float("nan")),
            ("hall", "genset", "t2", "t2", float("nan")),
        ),
        carbon=table(
            "site generator t_per_kwh",
            ("campus", "turbine", 0.0005),
            ("campus", "permit", 0.0007),
            ("hall", "genset", 0.0008),
        ),
    )


def _tests() -> Commissioning:
    """Boxes are installed five weeks, racks two, before the second half; on the first day the campus has less power."""
    return Commissioning(
        days=table(
            "site period day kw commissioning_kw open_period",
            ("hall", "t1", "2027-05-27", 220.0, 20.0, ""),
            ("campus", "t1", "2027-05-27", 350.0, 0.0, "t1"),
            ("campus", "t1", "2027-06-17", 390.0, 30.0, "t1"),
        ).assign(date=lambda days: pd.to_datetime(days["day"])),
        tested=table(
            "offer site cooling in_service_period period day",
            ("box purchase", "hall", "air", "t2", "t1", "2027-05-27"),
            ("box purchase", "campus", "liquid", "t2", "t1", "2027-05-27"),
            ("box purchase", "campus", "liquid", "t2", "t1", "2027-06-17"),
            ("rack purchase", "campus", "liquid", "t2", "t1", "2027-06-17"),
        ),
        path=table(
            "site item period day carried_kw",
            ("campus", "transformer", "t1", "2027-05-27", 500.0),
            ("campus", "transformer", "t1", "2027-06-17", 500.0),
            ("campus", "switchgear", "t1", "2027-05-27", 470.0),
            ("campus", "switchgear", "t1", "2027-06-17", 475.0),
        ),
    )


def _contract() -> Colocation:
    """A contract of the hall on a given day, and one of the campus that starts when it opens and refuses more."""
    return Colocation(
        owed=table(
            "site period month minimum_kw",
            ("hall", "t1", "2027-01", 35.0),
            ("hall", "t2", "2027-07", 55.0),
            ("campus", "t1", "2027-01", 0.0),
            ("campus", "t2", "2027-07", 0.0),
        ),
        owed_from=table(
            "site period month open_period minimum_kw",
            ("campus", "t1", "2027-01", "t1", 40.0),
            ("campus", "t2", "2027-07", "t1", 25.0),
            ("campus", "t2", "2027-07", "t2", 45.0),
        ),
        most=table("site period contracted_kw", ("hall", "t1", 360.0), ("campus", "t2", 0.0)),
        most_from=table(
            "site period open_period contracted_kw",
            ("campus", "t2", "t1", 210.0),
            ("campus", "t2", "t2", 190.0),
        ),
    )


def costs() -> Mapping[str, pd.DataFrame]:
    """Return what each decision costs, in round numbers; residual value at the end is the only income."""
    stand = "offer site cooling period line kind paid_period timing amount"
    return {
        "order": table(
            stand,
            ("box purchase", "hall", "air", "t1", "hardware_purchase", "capex", "t1", "start", 250_000.0),
            ("box purchase", "hall", "air", "t1", "hardware_residual", "capex", "t2", "end", -190_000.0),
            ("box purchase", "campus", "liquid", "t1", "hardware_purchase", "capex", "t1", "start", 250_000.0),
            ("box purchase", "campus", "liquid", "t1", "hardware_residual", "capex", "t2", "end", -190_000.0),
            ("rack purchase", "campus", "liquid", "t1", "hardware_purchase", "capex", "t1", "start", 800_000.0),
            ("rack purchase", "campus", "liquid", "t1", "hardware_residual", "capex", "t2", "end", -600_000.0),
            ("rack purchase", "campus", "liquid", "t2", "hardware_purchase", "capex", "t2", "start", 700_000.0),
            ("rack purchase", "campus", "liquid", "t2", "hardware_residual", "capex", "t2", "end", -620_000.0),
            ("box lease", "hall", "air", "t1", "lease", "opex", "t1", "mid", 45_000.0),
            ("box lease", "hall", "air", "t2", "lease", "opex", "t2", "mid", 44_000.0),
            ("box reserved", "cloud", "hosted", "t1", "reserved_rent", "opex", "t1", "mid", 62_000.0),
            ("box reserved", "cloud", "hosted", "t1", "reserved_rent", "opex", "t2", "mid", 62_000.0),
        ),
        "rent": table(
            stand,
            ("box rent", "cloud", "hosted", "t1", "on_demand_rent", "opex", "t1", "mid", 80_000.0),
            ("box rent", "cloud", "hosted", "t2", "on_demand_rent", "opex", "t2", "mid", 78_000.0),
        ),
        "rent_hour": table(
            "offer site cooling period block line kind paid_period timing amount",
            *(
                ("box hour", "cloud", "hosted", t, b, "spot_rent", "opex", t, "mid", hours * 12.0)
                for t in ("t1", "t2")
                for b, hours in (("day", DAY), ("night", NIGHT))
            ),
        ),
        "installed": table(
            stand,
            ("box purchase", "hall", "air", "t2", "facility_rent", "opex", "t2", "mid", 9_000.0),
            ("box lease", "hall", "air", "t1", "facility_rent", "opex", "t1", "mid", 9_000.0),
            ("box lease", "hall", "air", "t2", "facility_rent", "opex", "t2", "mid", 9_000.0),
            ("fleet:old", "hall", "air", "t1", "facility_rent", "opex", "t1", "mid", 9_000.0),
            ("rack purchase", "campus", "liquid", "t1", "maintenance", "opex", "t1", "mid", 20_000.0),
            ("rack purchase", "campus", "liquid", "t2", "maintenance", "opex", "t2", "mid", 20_000.0),
        ),
        "build_kw": table(
            "site cooling period line kind paid_period timing amount",
            ("campus", "liquid", "t1", "facility_build", "capex", "t1", "start", 9_000.0),
            ("campus", "liquid", "t1", "facility_residual", "capex", "t2", "end", -7_000.0),
        ),
        "retrofit_kw": table(
            "site from_cooling cooling period line kind paid_period timing amount",
            ("campus", "air", "liquid", "t1", "hall_retrofit", "capex", "t1", "start", 1_500.0),
        ),
        "open": table(
            "site period line kind paid_period timing amount",
            ("campus", "t1", "site_opening", "capex", "t1", "start", 100_000.0),
            ("campus", "t1", "site_opening", "capex", "t2", "start", -100_000.0),
            ("campus", "t2", "site_opening", "capex", "t2", "start", 100_000.0),
            ("campus", "t1", "site_fixed", "opex", "t1", "mid", 30_000.0),
            ("campus", "t2", "site_fixed", "opex", "t2", "mid", 30_000.0),
        ),
        "grid_kw": table(
            "site period block line kind paid_period timing amount",
            *(
                (s, t, b, "energy", "opex", t, "mid", hours * price)
                for s in ("hall", "campus")
                for t in ("t1", "t2")
                for b, hours, price in (("day", DAY, 0.1), ("night", NIGHT, 0.06))
            ),
        ),
        "peak_kw": table(
            "site component period line kind paid_period timing amount",
            ("hall", "afternoon", "t1", "demand_charge", "opex", "t1", "mid", 54.0),
            ("hall", "afternoon", "t2", "demand_charge", "opex", "t2", "mid", 54.0),
            ("hall", "any hour", "t2", "demand_charge", "opex", "t2", "mid", 24.0),
        ),
        "billed_kw": table(
            "site component period month line kind paid_period timing amount",
            ("hall", "summer", "t2", "2027-07", "demand_charge", "opex", "t2", "mid", 11.0),
            ("hall", "summer", "t2", "2027-08", "demand_charge", "opex", "t2", "mid", 12.0),
            ("campus", "contract", "t1", "2027-06", "demand_charge", "opex", "t1", "mid", 7.0),
            ("campus", "4cp", "t2", "2027-07", "demand_charge", "opex", "t2", "mid", 5.0),
            ("campus", "4cp", "t2", "2027-08", "demand_charge", "opex", "t2", "mid", 6.0),
        ),
        "month_peak_kw": table(
            "site component period month line kind paid_period timing amount",
            ("campus", "4cp", "t1", "2027-06", "coincident_peak_after_horizon", "opex", "t2", "end", 7.5),
            ("campus", "4cp", "t2", "2027-07", "coincident_peak_after_horizon", "opex", "t2", "end", 8.5),
        ),
        "bill_tier": table(
            "site ladder period month tier line kind paid_period timing amount",
            ("hall", "use", "t2", "2027-07", 1, "energy_tiers", "opex", "t2", "mid", 30.0),
            ("hall", "use", "t2", "2027-07", 2, "energy_tiers", "opex", "t2", "mid", -10.0),
            ("hall", "hours", "t2", "2027-08", 1, "energy_tiers", "opex", "t2", "mid", -20.0),
            ("hall", "hours", "t2", "2027-08", 2, "energy_tiers", "opex", "t2", "mid", 5.0),
            ("hall", "kw", "t2", "2027-07", 1, "demand_tiers", "opex", "t2", "mid", -3.0),
        ),
        "ppa_kw": table(
            "ppa site period block line kind paid_period timing amount",
            ("wind", "hall", "t1", "day", "ppa", "opex", "t1", "mid", 105.0),
            ("hydro", "campus", "t2", "day", "ppa_offset", "opex", "t2", "mid", -150.0),
        ),
        "minimum_topup": table(
            "site component period month line kind paid_period timing amount",
            ("campus", "month", "t1", "2027-06", "minimum_take", "opex", "t1", "mid", 1_000.0),
            ("campus", "year", "t2", "2027-08", "minimum_take", "opex", "t2", "mid", 1_000.0),
        ),
        # 50 per Mtok x (0.75 x 100 + 0.25 x 400) tokens x 3,600 s x hours.
        "unserved": table(
            "workload region period block line kind paid_period timing amount",
            *(
                ("chat", region, t, b, "optional_demand_value", "value", t, "mid", 50 * 175e-6 * 3_600 * hours)
                for region, t, b, hours in (
                    ("east", "t1", "day", DAY), ("east", "t1", "night", NIGHT), ("east", "t2", "day", DAY),
                    ("east", "t2", "night", NIGHT), ("west", "t2", "day", DAY),
                )
            ),
        ),
        "module": table(
            "site module period line kind paid_period timing amount",
            ("campus", "more gear", "t1", "site_module", "capex", "t1", "start", 30_000.0),
            ("campus", "second transformer", "t1", "site_module", "capex", "t1", "start", 90_000.0),
            ("campus", "second transformer", "t2", "site_module", "capex", "t2", "start", 90_000.0),
        ),
        "unpowered": table(
            stand,
            ("box purchase", "campus", "liquid", "t2", "delivered_not_powered", "opex", "t2", "mid", 5_000.0),
            ("rack purchase", "campus", "liquid", "t1", "delivered_not_powered", "opex", "t1", "mid", 16_000.0),
            ("rack purchase", "campus", "liquid", "t2", "delivered_not_powered", "opex", "t2", "mid", 16_000.0),
        ),
        "bridge_kw": table(
            "site generator period line kind paid_period timing amount",
            ("campus", "turbine", "t1", "bridge_rent", "opex", "t1", "mid", 150.0),
            ("campus", "turbine", "t2", "bridge_rent", "opex", "t2", "mid", 150.0),
            ("hall", "genset", "t2", "bridge_rent", "opex", "t2", "mid", 120.0),
        ),
        "bridge_tail_kw": table(
            "site generator period line kind paid_period timing amount",
            ("campus", "turbine", "t1", "bridge_rent", "opex", "t2", "mid", 50.0),
        ),
        "bridge_run_kw": table(
            "site generator period block line kind paid_period timing amount",
            ("campus", "turbine", "t1", "day", "bridge_fuel", "opex", "t1", "mid", DAY * 0.2),
            ("hall", "genset", "t2", "night", "bridge_fuel", "opex", "t2", "mid", NIGHT * 0.3),
        ),
        "unused_rent_kw": table(
            "site period month line kind paid_period timing amount",
            ("hall", "t1", "2027-01", "facility_rent_unused", "opex", "t1", "mid", 900.0),
            ("hall", "t2", "2027-07", "facility_rent_unused", "opex", "t2", "mid", 930.0),
            ("campus", "t1", "2027-01", "facility_rent_unused", "opex", "t1", "mid", 800.0),
            ("campus", "t2", "2027-07", "facility_rent_unused", "opex", "t2", "mid", 800.0),
        ),
        "constant": pd.DataFrame(columns=["workload", "region", "period", "block", *PAID]),
    }  # fmt: skip
