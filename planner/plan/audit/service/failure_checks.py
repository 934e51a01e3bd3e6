"""Losses: each is carried out on the plan, and what is critical is served from what is left, in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.once import once
from planner.plan.audit.orders.standing import STAND, standing
from planner.plan.audit.report import Check, beside, breaches, compare, total
from planner.plan.audit.service.rates import busy_unit, points_of

POOL_BLOCK = ["product", "site", "cooling", "period", "block"]
SERVED = ["workload", "shape", "ttft_class", "site", "period", "block"]
DEMANDED = ["workload", "shape", "region", "period", "block"]
PLACE = ["point", "site", "cooling"]
LOSS = ["failure", "loss", "site", "cooling", "product", "units"]


@once
def losses(books: Books) -> pd.DataFrame:
    """Return every loss of ``failure_cases`` by itself: one per site, or per product and place that can hold it."""
    facts = books.facts
    if not (critical_share(books) > 0).any():
        return pd.DataFrame(columns=LOSS)
    rows: list[tuple[Any, ...]] = []
    for case in facts.scenario.tables["failure_cases"].to_dict("records"):
        name = case["failure_case"]
        if case["loss"] == "site":
            rows.append((name, "site", case["site"], "", "", np.nan))
        elif case["loss"] == "each_site":
            rows += [(f"{name}: {site}", "site", site, "", "", np.nan) for site in facts.sites.index]
        else:
            rows += list(_lost_units(books, case))
    return pd.DataFrame(rows, columns=LOSS)


def _lost_units(books: Books, case: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the loss of units at every place at which units of the product stand in this plan."""
    stood = books["failures"]
    stood = stood[stood["loss"].eq("units")].drop_duplicates(["site", "cooling", "product"])
    held = pd.concat([books.fleet[["product", "site", "cooling"]], stood[["product", "site", "cooling"]]])
    for product, site, cooling in held.drop_duplicates().itertuples(index=False):
        named = (case["site"], site), (case["product"], product)
        if all(pd.isna(wanted) or wanted == here for wanted, here in named):
            label = f"{case['failure_case']}: {product} at {site}, {cooling}"
            yield label, "units", site, cooling, product, case["units"]


def _nothing_lost(books: Books) -> bool:
    """Return whether the inputs ask for no loss and the plan tells of none: there is nothing to carry out."""
    told = (books[name] for name in ("failures", "failure_flows", "failure_serving"))
    return losses(books).empty and all(frame.empty for frame in told)


def critical_share(books: Books) -> pd.Series:
    """Return the share of each workload that every loss must leave served."""
    return books.facts.workloads["critical_fraction"].fillna(0.0)


@once
def critical_demand(books: Books) -> pd.DataFrame:
    """Return critical requests/s by workload, shape, region, period, block, of every block."""
    share = books.tokens["share_fraction"].rename("share").reset_index()
    asked = books.block_demand.rename("asked").reset_index().merge(share, on="workload")
    critical = asked["workload"].map(critical_share(books)) * asked["share"] * asked["asked"]
    asked = asked.assign(requests_per_s=critical)
    return asked.loc[asked["requests_per_s"] > 0, [*DEMANDED, "requests_per_s"]].reset_index(drop=True)


def failure_cases(books: Books) -> Check:
    """Return the check that the plan looks at every loss the inputs ask for, with what it takes."""
    own, stated = losses(books), books["failures"]
    lost = own.assign(size=own["units"].fillna(0.0).astype(float) + 1.0)
    told = stated.assign(size=stated["units"].fillna(0.0) + 1.0)
    key = ["failure", "loss", "site", "product"]
    return compare(
        "failure_cases",
        "failure_service",
        beside(total(told["size"], told, key), total(lost["size"], lost, key)),
        "==",
    )


def failure_service(books: Books) -> Check:
    """Return the check that re-routed flows and the tokens bought anyhow reach the critical share in every block the
    plan looks at.
    """
    flows = books["failure_flows"]
    critical = critical_demand(books)
    looked = flows[["failure", "period", "block"]].drop_duplicates()
    if len(books.api):
        # With tokens bought a block may need no route at all: every one is looked at.
        looked = losses(books)[["failure"]].merge(
            critical[["period", "block"]].drop_duplicates(), how="cross"
        )
    needed = critical.merge(looked, on=["period", "block"])
    key = ["failure", *DEMANDED]
    reached = total(flows["requests_per_s"], flows, key)
    kept = at(reached, needed, key).fillna(0.0).to_numpy() + bought_anyhow(books, needed)
    rows = needed[key].assign(left=needed["requests_per_s"], right=kept)
    return compare("failure_service", "failure_service", rows, "<=")


def bought_anyhow(books: Books, demand: pd.DataFrame) -> np.ndarray:
    """Return requests/s of each row of a demand that the plan sends to token services, loss or no loss."""
    if books.api.empty:
        return np.zeros(len(demand))
    sent = total(books.api["requests_per_s"], books.api, DEMANDED)
    return at(sent, demand, DEMANDED).fillna(0.0).to_numpy(float)


def failure_routes(books: Books) -> Check:
    """Return the check that re-routed flows take admissible routes to sites that are left, and their round trips."""
    flows = _routed(books)
    gone = losses(books)
    gone = gone[gone["loss"] == "site"].drop_duplicates("failure").set_index("failure")["site"]
    lost = at(gone, flows, ["failure"]).eq(flows["site"])
    distance = at(books.facts.round_trip_ms, flows, ["region", "site"])
    wrong = (flows["rtt_ms"] - distance).abs() > 1e-6
    return breaches(
        "failure_routes",
        "routes",
        flows,
        flows["ttft_class"].eq("") | lost | wrong,
        ["failure", *DEMANDED, "site"],
    )


@once
def _routed(books: Books) -> pd.DataFrame:
    """Return the re-routed flows with the latency class of their route; blank where it is not admissible."""
    flows, routes = books["failure_flows"], books["routes"]
    usable = routes[routes["admissible"]].drop_duplicates(["workload", "region", "site"])
    usable = usable.set_index(["workload", "region", "site"])["ttft_class"]
    return flows.assign(ttft_class=at(usable, flows, ["workload", "region", "site"]).fillna(""))


@once
def _running(books: Books) -> pd.DataFrame:
    """Return what runs after each loss with rates and peaks of its points recomputed."""
    running = books["failure_serving"]
    point = points_of(books["points"], running)[["product", "phase", "workload", "shape", "ttft_class"]]
    known = running.join(point)
    return known.join(busy_unit(books.facts, books["points"], known))


def failure_prefill(books: Books) -> Check:
    """Return the check that re-routed prompts are processed as they arrive where the phases run apart."""
    if _nothing_lost(books):
        return compare("failure_prefill", "failure_prefill", losses(books), "==")
    running = _running(books)
    key = ["failure", *SERVED]
    apart = running.loc[running["phase"].ne("mixed"), key].drop_duplicates()
    return _balance(books, "failure_prefill", running, ("prefill", "mixed"), apart)


def failure_decode(books: Books) -> Check:
    """Return the check that re-routed requests are answered as they arrive."""
    if _nothing_lost(books):
        return compare("failure_decode", "failure_decode", losses(books), "==")
    return _balance(books, "failure_decode", _running(books), ("decode", "mixed"), None)


def _balance(
    books: Books, check: str, running: pd.DataFrame, phases: tuple[str, ...], places: pd.DataFrame | None
) -> Check:
    key = ["failure", *SERVED]
    working, flows = running[running["phase"].isin(phases)], _routed(books)
    if places is not None:
        working, flows = working.merge(places, on=key), flows.merge(places, on=key)
    done = total(working["units_running"] * working["requests_per_s"], working, key)
    return compare(check, check, beside(done, total(flows["requests_per_s"], flows, key)), "==")


@once
def left_standing(books: Books) -> pd.DataFrame:
    """Return product, site, cooling, period, block, units, available (units x availability) and the best unit's."""
    whole = books.fleet[~books.fleet["hourly"]].merge(
        books.hours.reset_index()[["period", "block"]], on="period"
    )
    parts = [frame[[*POOL_BLOCK, "units", "availability_fraction"]] for frame in (whole, books.hourly)]
    held = pd.concat(parts, ignore_index=True)
    held = held.assign(available=held["units"] * held["availability_fraction"])
    grouped = held.groupby(POOL_BLOCK, sort=False)
    best = _best_availability(books)
    table = grouped[["units", "available"]].sum().reset_index()
    return table.assign(best=at(best, table, ["product", "site", "cooling"]))


@once
def _best_availability(books: Books) -> pd.Series:
    """Return the highest availability of any offer or lot by product, site and cooling."""
    facts = books.facts
    places = pd.concat(
        [books.fleet[["site", "cooling"]], books.hourly[["site", "cooling"]]]
    ).drop_duplicates()
    offers = facts.offers.reset_index()[["offer"]].merge(places, how="cross")
    unit = standing(facts, offers[STAND])
    return unit.groupby(["product", "site", "cooling"])["availability_fraction"].max()


def _after(books: Books, stands: pd.DataFrame, loss: dict[str, Any]) -> pd.Series:
    """Return what is left after a loss, index POOL_BLOCK: nothing of a lost site, never less than nothing."""
    left = stands["available"].to_numpy(float).copy()
    if loss["loss"] == "site":
        left[stands["site"].eq(loss["site"])] = 0.0
    else:
        hit = (
            stands["site"].eq(loss["site"])
            & stands["cooling"].eq(loss["cooling"])
            & stands["product"].eq(loss["product"])
        ).to_numpy()
        taken = stands["best"].fillna(1.0).to_numpy(float) * loss["units"]
        left = np.where(hit, np.maximum(left - taken, 0.0), left)
    return pd.Series(left, index=pd.MultiIndex.from_frame(stands[POOL_BLOCK]))


def failure_capacity(books: Books) -> Check:
    """Return the check that after every loss busy units at their busiest minute fit what is left."""
    return _fits(books, "failure_capacity", "site", "units")


def failure_pool(books: Books) -> Check:
    """Return the same check of the places that lose units: used only with more units than are lost."""
    return _fits(books, "failure_pool", "units")


def _fits(books: Books, check: str, *kinds: str) -> Check:
    if _nothing_lost(books):
        return compare(check, check, losses(books), "<=")
    running, stands = _running(books), left_standing(books)
    parts = [pd.DataFrame({"failure": [], "left": [], "right": []})]
    for loss in losses(books).to_dict("records"):
        part = running[running["failure"] == loss["failure"]]
        if loss["loss"] not in kinds or part.empty:
            continue
        needed = part["peak_ratio"] / part["utilisation_cap_fraction"] * part["units_running"]
        used = total(needed, part, POOL_BLOCK)
        rows = used.rename("left").reset_index()
        left = at(_after(books, stands, loss), rows, POOL_BLOCK).fillna(0.0)
        parts.append(rows.assign(failure=loss["failure"], right=left))
    kept = [part for part in parts if len(part)] or parts[:1]
    return compare(check, check, pd.concat(kept, ignore_index=True), "<=")


def failure_simulation(books: Books) -> Check:
    """Return the check that every loss, carried out on the plan, leaves the critical share served in every block.

    Site or units are taken out of the fleet; the greatest share of critical demand that the rest can serve, on
    routes and points the plan uses, must be all of it. Left: what is needed, right: the share that can be served.
    """
    if losses(books).empty:
        return compare("failure_simulation", "failure_service", losses(books), "<=")
    stands, demand = left_standing(books), critical_demand(books)
    demand = demand.assign(bought_per_s=bought_anyhow(books, demand))
    routes, candidates = _usable_routes(books), _candidates(books)
    rows = []
    for loss in losses(books).to_dict("records"):
        left = _after(books, stands, loss)
        for (period, block), part in demand.groupby(["period", "block"], sort=False):
            there = stands[["product", "site", "cooling"]][
                (stands["period"].eq(period) & stands["block"].eq(block)).to_numpy()
            ].drop_duplicates()
            points = candidates[candidates["period"] == period].merge(
                there, on=["product", "site", "cooling"]
            )
            share = greatest_share(part, routes, points, _standing_in(left, period, block))
            rows.append({"failure": loss["failure"], "period": period, "block": block, "right": share})
    table = pd.DataFrame(rows, columns=["failure", "period", "block", "right"])
    table = table.assign(left=1.0).astype({"right": float})
    return compare("failure_simulation", "failure_service", table, "<=")


def _standing_in(left: pd.Series, period: Any, block: Any) -> pd.Series:
    """Return units left by (product, site, cooling) in one block; none where nothing stands in it."""
    inside = left[
        (left.index.get_level_values("period") == period) & (left.index.get_level_values("block") == block)
    ]
    return inside.droplevel(["period", "block"])


def _usable_routes(books: Books) -> pd.DataFrame:
    routes = books["routes"]
    usable = routes[routes["admissible"]].drop_duplicates(["workload", "region", "site"])
    return usable[["workload", "region", "site", "ttft_class"]]


def _candidates(books: Books) -> pd.DataFrame:
    """Return the points the plan uses in each period, with what one busy unit does and how full its pool may be."""
    stated = [books[name].assign(cap=_cap(books[name])) for name in ("serving", "failure_serving")]
    key = [*PLACE, "period"]
    used = pd.concat([frame[[*key, "cap"]] for frame in stated], ignore_index=True)
    used = used.groupby(key, sort=False)["cap"].max().reset_index()
    point = points_of(books["points"], used)[["product", "phase", "workload", "shape", "ttft_class"]]
    known = used.join(point)
    known = known.join(busy_unit(books.facts, books["points"], known))
    return known.assign(peak_ratio=known["peak_ratio"] / known["cap"])


def _cap(frame: pd.DataFrame) -> pd.Series:
    """Return how full the pool of each row may be; 1 where the plan states nothing."""
    stated = frame.get("utilisation_cap_fraction", pd.Series(1.0, index=frame.index))
    return stated.astype(float).fillna(1.0)


def greatest_share(
    demand: pd.DataFrame, routes: pd.DataFrame, points: pd.DataFrame, left: pd.Series
) -> float:
    """Return the greatest common share, at most 1, of a demand that what is left can serve in one block.

    maximise z  with  sum_s flow + bought >= z * demand;  rate x busy units == flow by place and phase;
                      busy x peak <= left

    Parameters
    ----------
    demand
        workload, shape, region, requests_per_s, bought_per_s from token services (0 where the column is missing).
    routes
        workload, region, site, ttft_class.
    points
        point, site, cooling, product, phase, workload, shape, ttft_class, requests_per_s, peak_ratio.
    left
        Units available by (product, site, cooling).
    """
    from scipy import sparse
    from scipy.optimize import linprog

    flows = demand.reset_index(names="asked").merge(routes, on=["workload", "region"]).reset_index(drop=True)
    place = ["workload", "shape", "ttft_class", "site"]
    split = points.loc[points["phase"].ne("mixed"), place].drop_duplicates()
    columns = 1 + len(flows) + len(points)
    flow_at, run_at = 1 + np.arange(len(flows)), 1 + len(flows) + np.arange(len(points))
    asked = demand.index.get_indexer(flows["asked"])
    bought = demand.get("bought_per_s", pd.Series(0.0, index=demand.index)).to_numpy(float)
    service = sparse.lil_array((len(demand), columns))
    service[:, [0]] = demand["requests_per_s"].to_numpy()[:, None]
    for row, column in zip(asked, flow_at, strict=True):
        service[row, column] = -1.0
    pools = left.index
    units = sparse.lil_array((len(pools), columns))
    held = pools.get_indexer(pd.MultiIndex.from_frame(points[["product", "site", "cooling"]]))
    for row, column, peak in zip(held, run_at, points["peak_ratio"], strict=True):
        units[row, column] = peak
    balance = [
        _phase_rows(flows, points[points["phase"].isin(phases)], places, (flow_at, run_at), columns)
        for phases, places in ((("decode", "mixed"), None), (("prefill", "mixed"), split))
    ]
    solution = linprog(
        -np.eye(1, columns)[0],
        A_ub=sparse.vstack([service, units], format="csr"),
        b_ub=np.concatenate([bought, left.to_numpy(float)]),
        A_eq=sparse.vstack(balance, format="csr"),
        b_eq=np.zeros(sum(rows.shape[0] for rows in balance)),
        bounds=[(0.0, 1.0), *[(0.0, None)] * (columns - 1)],
    )
    return float(solution.x[0]) if solution.status == 0 else 0.0


def _phase_rows(
    flows: pd.DataFrame,
    points: pd.DataFrame,
    places: pd.DataFrame | None,
    position: tuple[np.ndarray, np.ndarray],
    columns: int,
) -> Any:
    """Return the rows of one phase: rate x busy units less flows, by place, all of them or some."""
    from scipy import sparse

    place = ["workload", "shape", "ttft_class", "site"]
    flow_at, run_at = position
    listed = dict.fromkeys(_labels(flows if places is None else places, place))
    where = {label: row for row, label in enumerate(listed)}
    rows = sparse.lil_array((len(where), columns))
    for part, at_column, value in (
        (flows, flow_at[flows.index], np.full(len(flows), -1.0)),
        (points, run_at[points.index], points["requests_per_s"].to_numpy(float)),
    ):
        for label, column, amount in zip(_labels(part, place), at_column, value, strict=True):
            if label in where:
                rows[where[label], column] = amount
    return rows


def _labels(frame: pd.DataFrame, names: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(frame[name].tolist() for name in names), strict=True)
