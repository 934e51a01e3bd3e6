"""What is handed to operators is the plan: floors, ceilings, caps and thresholds are its figures."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from plan_cases import solved

from planner.errors import InputError
from planner.plan.bound import as_bound
from planner.plan.operations import handover_of
from planner.plan.operations.pools import failure_needs, held_units, pooled_serving, whole_replicas

CASES = ("bridged", "split", "survives", "far_apart", "optional")
UNITS = ["product", "site", "cooling", "period", "block"]


def tables(case):
    return handover_of(solved(case), case).tables


@pytest.mark.parametrize("case", CASES)
def test_the_floor_is_what_the_busiest_minute_needs_as_far_as_whole_replicas_fit(case):
    # Counted again from the rows of serving: units running x minute peak / cap x replicas per unit.
    plan, found = solved(case), tables(case)["replicas"]
    serving = plan["serving"].merge(plan["points"][["point", "replicas_per_unit"]], on="point")
    cap = serving["utilisation_cap_fraction"].fillna(1.0)
    needed = serving["units_running"] * serving["peak_ratio"] / cap * serving["replicas_per_unit"]
    assert found["needed_replicas"].sum() == pytest.approx(needed.sum())
    whole = np.ceil(found["needed_replicas"] - 1e-6)
    short = found["short_replicas"] > 0.0
    assert (found["floor_replicas"][~short] == whole[~short]).all()
    assert (found["floor_replicas"][short] == whole[short] - 1.0).all()
    missing = found["needed_replicas"][short] - found["floor_replicas"][short]
    assert found["short_replicas"][short].to_numpy() == pytest.approx(missing.to_numpy())


@pytest.mark.parametrize("case", CASES)
def test_floors_together_take_no_more_units_than_there_are(case):
    plan, found = solved(case), tables(case)
    place = found["pools"].set_index("pool")
    rows = found["replicas"].join(place[["product", "site", "cooling", "replicas_per_unit"]], on="pool")
    rows["units"] = rows["floor_replicas"] / rows["replicas_per_unit"]
    taken = rows.groupby(UNITS, as_index=False)["units"].sum().merge(held_units(plan), on=UNITS, how="left")
    assert (taken["units"] <= taken["held_units"] + 1e-6).all()


def test_units_held_are_those_of_the_fleet_and_by_the_hour_those_of_the_hour():
    plan = solved("bridged")
    held = held_units(plan)
    assert (plan["hourly_rent"]["units"] > 0).any()
    blocks = plan["blocks"].groupby("period").size()
    hourly = plan["hourly_rent"]["offer"].unique()
    fleet = plan["fleet"][~plan["fleet"]["offer"].isin(hourly)]
    expected = (fleet["units"] * fleet["period"].map(blocks)).sum() + plan["hourly_rent"]["units"].sum()
    assert held["held_units"].sum() == pytest.approx(expected)


@pytest.mark.parametrize("case", ["bridged", "split", "optional"])
def test_the_ceiling_is_the_busiest_block_of_the_period(case):
    found = tables(case)["replicas"]
    most = found.groupby(["pool", "period"])["floor_replicas"].transform("max")
    lost = failure_needs(solved(case))
    if lost.empty:
        assert (found["ceiling_replicas"] == most).all()
    assert (found["ceiling_replicas"] >= most).all()


def test_the_ceiling_covers_a_loss_the_plan_is_to_survive():
    plan, found = solved("survives"), tables("survives")["replicas"]
    lost = failure_needs(plan)
    worst = np.ceil(lost.groupby(["pool", "period"])["needed_replicas"].max() - 1e-6)
    ceiling = found.groupby(["pool", "period"])["ceiling_replicas"].max()
    busiest = found.groupby(["pool", "period"])["floor_replicas"].max()
    assert (worst > busiest.reindex(worst.index)).any(), "no loss asks for more than the busiest hour"
    expected = np.maximum(busiest, worst.reindex(busiest.index).fillna(0.0))
    assert (ceiling == expected.reindex(ceiling.index)).all()


def test_the_minute_peak_of_a_loss_is_that_of_serving():
    plan = solved("split")
    at = plan["serving"].rename(columns={"peak_ratio": "kept"})
    again = failure_needs(
        replace(plan, frames={**plan.frames, "failure_serving": at[_LOSS].assign(failure="all")})
    )
    own = pooled_serving(plan).groupby(["pool", "period", "block"])["needed_replicas"].sum()
    lost = again.set_index(["pool", "period", "block"])["needed_replicas"]
    assert lost.to_numpy() == pytest.approx(own.reindex(lost.index).to_numpy())


_LOSS = ["point", "site", "cooling", "period", "block", "units_running", "utilisation_cap_fraction"]


def test_what_is_left_after_rounding_down_goes_to_the_largest_fraction():
    # Three units of eight: 7.4 + 9.5 + 6.9 = 23.8 replicas; one is left after 7 + 9 + 6, and goes to 6.9.
    assert whole_replicas([7.4, 9.5, 6.9], [0.125] * 3, 23 * 0.125).tolist() == [7.0, 9.0, 7.0]
    assert whole_replicas([7.4, 9.5, 6.9], [0.125] * 3, 24 * 0.125).tolist() == [7.0, 10.0, 7.0]
    # A replica of two units does not fit into one.
    assert whole_replicas([0.5, 0.4], [2.0, 1.0], 1.0).tolist() == [0.0, 1.0]
    assert whole_replicas([2.0 + 1e-9], [1.0], 3.0).tolist() == [2.0]


@pytest.mark.parametrize("case", CASES)
def test_every_hour_of_the_calendar_is_in_one_window_with_the_floor_of_its_block(case):
    plan, found = solved(case), tables(case)
    cells = plan["block_cells"]
    floors = found["replicas"].set_index(["pool", "period", "block"])["floor_replicas"]
    for (pool, period), windows in found["windows"].groupby(["pool", "period"]):
        hours = cells[cells["period"] == period]
        for cell in hours.itertuples():
            inside = windows[
                (windows["day_type"] == cell.day_type)
                & (windows["from_hour_utc"] <= cell.hour_utc)
                & (cell.hour_utc < windows["to_hour_utc"])
                & windows["months"].str.split(",").map(lambda months, at=str(cell.month): at in months)
            ]
            assert len(inside) == 1
            assert inside["floor_replicas"].item() == floors.get((pool, period, cell.block), 0.0)


def test_requests_in_flight_are_the_mean_over_the_points_and_fit_the_memory():
    plan, found = solved("split"), tables("split")["batch_caps"]
    serving = pooled_serving(plan)
    flight = serving["point"].map(plan["points"].set_index("point")["concurrency"])
    for cap in found.itertuples():
        own = (serving["pool"] == cap.pool) & (serving["period"] == cap.period)
        if math.isnan(cap.max_in_flight):
            assert flight[own].isna().any()
            continue
        weight = (serving["units_running"] * serving["hours"])[own]
        mean = (flight[own] * weight).sum() / weight.sum()
        most = min(mean, cap.kv_slots) if not math.isnan(cap.kv_slots) else mean
        assert cap.max_in_flight == max(math.floor(most + 1e-9), 1)


def test_ranks_have_classes_in_their_order():
    found = tables("far_apart")["priorities"].sort_values("priority")
    assert (found["class_value"] == 1_000 * (100 - found["priority"])).all()
    assert found["priority_class"].to_list() == [f"planner-priority-{rank}" for rank in found["priority"]]


def test_a_region_may_send_what_the_busiest_minute_was_sized_on():
    plan, found = solved("optional"), tables("optional")["rate_limits"]
    lost = plan["unserved"].rename(columns={"requests_per_s": "lost"})
    assert (lost["lost"] > 0.0).any()
    hours = plan["demand"].merge(lost, how="left", on=["workload", "region", "period", "block"])
    served = hours["requests_per_s"] - hours["lost"].fillna(0.0)
    most = served.groupby([hours[name] for name in ("workload", "region", "period")]).max()
    own = found.set_index(["workload", "region", "period"])
    assert own["hour_requests_per_s"].to_numpy() == pytest.approx(most.reindex(own.index).to_numpy())
    # Half of the busy time is prefill: 0.5 * 1.6 + 0.5 * 1.2 times the mean of the hour; tokens by their own minute.
    hour = own["hour_requests_per_s"].to_numpy()
    assert own["minute_requests_per_s"].to_numpy() == pytest.approx(1.4 * hour)
    shapes = plan.scenario.tables["shapes"]
    prompt, output = (
        (shapes["share_fraction"] * shapes[f"{side}_tokens"]).sum() for side in ("input", "output")
    )
    assert own["input_tokens_per_minute"].to_numpy() == pytest.approx(60 * 1.6 * hour * prompt)
    assert own["output_tokens_per_minute"].to_numpy() == pytest.approx(60 * 1.2 * hour * output)


def test_power_caps_are_the_sites_figures_and_the_units_own():
    plan, found = solved("bridged"), tables("bridged")["power_caps"]
    sites = found[found["level"] != "unit"]
    assert sites["planned_kw"].to_list() == plan["site_power"]["peak_kw"].to_list()
    units = found[found["level"] == "unit"].groupby(["site", "period"])
    held = plan["fleet"][plan["fleet"]["provisioned_kw"] > 0.0]
    own = (held["units"] * held["provisioned_kw"]).groupby([held["site"], held["period"]]).sum()
    summed = units.apply(lambda rows: float((rows["units"] * rows["limit_kw"]).sum()))
    assert summed.sort_index().to_numpy() == pytest.approx(own.sort_index().to_numpy())


def promised(plan, **promise):
    """Return the plan with its first workload of a service class that promises this."""
    tables = plan.scenario.tables
    classes = tables["service_classes"]
    row = dict.fromkeys(classes.columns) | {"service_class": "kept"} | promise
    changed = {
        **tables,
        "workloads": tables["workloads"].assign(service_class="kept"),
        "service_classes": pd.DataFrame([row]).astype(classes.dtypes.to_dict()),
    }
    return replace(plan, scenario=replace(plan.scenario, tables=changed))


def test_alarms_stand_at_what_the_class_promises():
    plan = promised(
        solved("bridged"), availability_fraction=0.995, ttft_ms=800.0, tpot_ms=40.0, percentile="p95"
    )
    alarms = handover_of(plan, "bridged").tables["alarms"].set_index(["figure", "scope"])
    workload = plan.scenario.tables["workloads"]["workload"].iloc[0]
    assert alarms.loc[("requests answered", workload), ["threshold", "alarm_when"]].to_list() == [
        0.995,
        "below",
    ]
    assert alarms.loc[("TTFT, p95", workload), ["threshold", "alarm_when"]].to_list() == [800.0, "above"]
    assert alarms.loc[("TPOT, p95", workload), "threshold"] == 40.0
    assert "requests answered" not in tables("bridged")["alarms"]["figure"].to_list()


def test_alarms_stand_at_the_loads_and_limits_of_the_plan():
    plan, found = solved("bridged"), tables("bridged")
    alarms = found["alarms"]
    limit = found["rate_limits"].iloc[0]
    scope = f"{limit['workload']} from {limit['region']}"
    asked = alarms[
        (alarms["figure"] == "requests asked")
        & (alarms["scope"] == scope)
        & (alarms["period"] == limit["period"])
    ]
    assert asked["threshold"].item() == limit["minute_requests_per_s"]
    power = alarms[alarms["figure"].str.startswith("power")]
    stated = plan["site_power"][["peak_kw", "usable_kw"]].to_numpy().ravel()
    assert sorted(power["threshold"]) == sorted(stated[stated > 0.0])
    ready = alarms[alarms["figure"] == "replicas ready"]
    least = found["replicas"].groupby(["pool", "period"])["floor_replicas"].min()
    assert sorted(ready["threshold"]) == sorted(least[least > 0.0])


def test_what_is_no_plan_has_no_operators():
    with pytest.raises(InputError, match="bound, not a plan"):
        handover_of(_relaxed(), "here")
    with pytest.raises(InputError, match=r"here: infeasible: nothing runs"):
        handover_of(solved("impossible"), "here")
    plan = solved("bridged")
    frames = {name: frame for name, frame in plan.frames.items() if name not in ("spares", "block_cells")}
    with pytest.raises(InputError, match=r"without block_cells, spares; solve the scenario again"):
        handover_of(replace(plan, frames=frames), "here")


def _relaxed():
    plan = solved("bridged")
    return as_bound(replace(plan, headline={**plan.headline, "relaxed": True}))
