"""The token waterfall made once more: what each link lets through from what runs and stands, and which one binds.

Here the output is the least of the limits, each times the shares after it,

    output = min over k of c[k] * s[k+1] * ... * s[last]

so that the limit with the least of these terms binds, and the next larger one says what loosening it gives.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.once import once
from planner.plan.audit.report import NOTHING, Check, alike, total
from planner.units import FLOPS_PER_TFLOPS, PARAMS_PER_BILLION, SECONDS_PER_HOUR, TOKENS_PER_MTOK

POOL = ["product", "site", "cooling", "period", "block"]
KEY = ["point", "workload", "shape", *POOL]
LINKS = {
    "nameplate compute": "nameplate_compute",
    "effective compute": "effective_compute",
    "memory and bandwidth": "memory_and_bandwidth",
    "engine throughput at the SLA": "engine",
    "held frequency": "held_clock_fraction",
    "unit power": "unit_power",
    "cluster scheduler": "cluster_fraction",
    "site power": "site_power",
    "demand": "demand",
    "effective tokens": "pass_fraction",
}
"""Link -> column of ``waterfall_hours``; those in ``_fraction`` are shares, the others limits."""
TOKENS, REQUESTS, ALL = "Mtok", "million requests", "all"
PRECISIONS = {
    "bf16": ("bf16",),
    "fp8": ("fp8",),
    "int8": ("int8",),
    "fp4": ("fp4",),
    "mxfp4": ("fp4", "bf16"),
    "int4": ("bf16",),
}
"""Weight precision -> arithmetic, first one the chip has."""
PEAKS = {
    "bf16": ("bf16_tflops", "mfu_bf16_fraction"),
    "fp8": ("fp8_tflops", "mfu_fp8_fraction"),
    "int8": ("int8_tops", "mfu_fp8_fraction"),
    "fp4": ("fp4_tflops", "mfu_fp4_fraction"),
}
NO_LINK = {
    "binding": False,
    "binding_fraction": 0.0,
    "worth_per_cent": 0.0,
    "most_worth": 0.0,
    "next_link": "",
}
"""Of tokens bought from services, which are no link of the plan's."""
SAME = 1e-6
NEAR = 1e-6
FREED = 1e12


@once
def link_rows(books: Books) -> pd.DataFrame:
    """Return KEY, unit_hours, hours, unit, effective and the columns of LINKS of every point that makes output."""
    rows = _in_use(books)
    rows = rows[rows["phase"].ne("prefill")].reset_index(drop=True)
    facts = books.facts
    point = at(books["points"].drop_duplicates("point").set_index("point"), rows, ["point"])
    about = at(facts.workloads, rows, ["workload"])
    shape = at(books.tokens, rows, ["workload", "shape"])
    millions = shape["output_tokens"].astype(float) * SECONDS_PER_HOUR / TOKENS_PER_MTOK
    tried = rows["requests_per_s"] * (1.0 + about["retry_fraction"].astype(float))
    served, held = rows["busy"] * tried * millions, rows["unit_hours"] * millions
    engine, power, memory = (
        point[f"{name}_requests_per_s"].astype(float) for name in ("engine", "power_bound", "memory_bound")
    )
    most = pd.concat([memory, engine], axis=1).max(axis=1)
    clock = np.minimum(tried / pd.concat([engine, power], axis=1).min(axis=1), 1.0)
    peak, reached = compute_rates(books, rows, point)
    unbound = memory.notna() & (most <= engine * (1.0 + NEAR))
    found = rows[[*KEY, "unit_hours"]].assign(
        hours=books.hours_of(rows),
        unit=np.where(shape["opaque"].astype(bool), REQUESTS, TOKENS),
        nameplate_compute=held * pd.concat([peak, most], axis=1).max(axis=1).where(peak.notna()),
        effective_compute=held * pd.concat([reached, most], axis=1).max(axis=1).where(reached.notna()),
        memory_and_bandwidth=held * most.where(memory.notna()),
        engine=held * engine.where(~unbound),
        held_clock_fraction=clock,
        unit_power=held * power * clock,
        cluster_fraction=np.minimum(rows["available"] / rows["load"], 1.0),
        site_power=served * at(_site_growth(books), rows, ["site", "period", "block"]).astype(float),
        effective=np.where(rows["busy"] > 0, rows["effective"], 0.0),
    )
    # Up to demand: where nothing is left over, what went unserved was asked as well.
    left = least(found.assign(demand=np.nan, pass_fraction=1.0))
    lost = at(_unserved(books), rows, ["workload", "period", "block"]).fillna(0.0)
    full = left <= served * (1.0 + NEAR)
    passed = (found["effective"] / served.where(served > 0)).fillna(1.0)
    return found.assign(
        demand=served * np.where(full, 1.0 + lost, 1.0), pass_fraction=np.minimum(passed, 1.0)
    )


def _in_use(books: Books) -> pd.DataFrame:
    """Return KEY, phase, requests_per_s, busy and held unit-hours, available (share), load, effective of every point.

    Units of a pool are its points' by what each needs (busy x peak ratio / cap); in a block in which none runs, by
    what each needs over the period.
    """
    own, stated = books.serving, books["serving"]
    cap = stated["utilisation_cap_fraction"].astype(float).fillna(1.0).to_numpy()
    hours = books.hours_of(own)
    rows = own[[*KEY, "phase", "requests_per_s"]].assign(
        busy=own["units_running"] * hours, load=own["peak_ratio"] / cap
    )
    made = stated["effective_mtok"] + stated["effective_mrequests"]
    rows = rows.assign(need=rows["busy"] * rows["load"], effective=made.to_numpy(float))
    held, up = _held_hours(books)
    running = total(rows["need"], rows, POOL)
    asleep = held[~held.index.isin(running.index[running > 0])].index.to_frame(index=False)
    names = ["point", "workload", "shape", *POOL[:-1], "phase", "requests_per_s", "load"]
    sums = rows.groupby(names, sort=False, as_index=False)["need"].sum()
    idle = asleep.merge(sums, on=POOL[:-1]).assign(busy=0.0, effective=0.0)
    both = pd.concat([rows, idle[rows.columns]], ignore_index=True)
    share = both["need"] / at(total(both["need"], both, POOL), both, POOL)
    hours_held = at(held, both, POOL)
    return both.assign(
        unit_hours=hours_held.fillna(0.0) * share, available=(at(up, both, POOL) / hours_held).fillna(1.0)
    )


def _held_hours(books: Books) -> tuple[pd.Series, pd.Series]:
    """Return unit-hours held, and those of them units are up, by POOL."""
    blocks = books.hours.rename("hours").reset_index()
    whole = books.fleet[~books.fleet["hourly"]].merge(blocks[["period", "block"]], on="period")
    both = pd.concat(
        [frame[[*POOL, "units", "availability_fraction"]] for frame in (whole, books.hourly)],
        ignore_index=True,
    )
    count = both["units"].astype(float) * books.hours_of(both)
    return total(count, both, POOL), total(count * both["availability_fraction"], both, POOL)


def _unserved(books: Books) -> pd.Series:
    """Return requests unserved over those sent to sites, by (workload, period, block)."""
    key = ["workload", "period", "block"]
    lost, sent = books["unserved"], books["flows"]
    gone = total(lost["requests_per_s"], lost, key)
    taken = total(sent["requests_per_s"], sent, key)
    return (gone.reindex(taken.index).fillna(0.0) / taken.where(taken > 0)).fillna(0.0)


def _site_growth(books: Books) -> pd.Series:
    """Return by what ratio what running adds may grow until the meter is at its limit, by (site, period, block)."""
    own, key = books.serving, ["site", "period", "block"]
    pue = at(books.block_pue, own, ["site", "cooling", "period", "block"]).fillna(1.0)
    adds = total(own["units_running"] * own["added_kw"] * pue, own, key)
    adds = adds[adds > 0]
    power = books["site_power"]
    usable = power[power["level"].eq("grid")].set_index(["site", "period"])["usable_kw"].astype(float)
    drawn = books.grid_kw.reindex(adds.index)
    rows = adds.index.to_frame(index=False)
    room = at(usable, rows, ["site", "period"]).to_numpy(float) - drawn.clip(lower=0.0).to_numpy(float)
    growth = pd.Series(1.0 + room / adds.to_numpy(float), index=adds.index)
    return growth.clip(lower=1.0)


def compute_rates(books: Books, rows: pd.DataFrame, point: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return attempts/s of one unit by arithmetic alone at peak and at the share reached; NaN where not stated.

    chips x FLOP/s of the chip / (2 x active parameters x tokens computed of an attempt); the share is that of the
    family times the tuning of the engine, at least 1 and the whole at most. Answers alone compute no prompt.
    """
    facts = books.facts
    product = at(facts.table("products", "product")[["chip", "chips_per_unit"]], point, ["product"])
    chip = at(facts.table("chips", "chip"), product, ["chip"])
    family = at(facts.table("chip_families", "family"), chip, ["family"])
    engine = at(facts.table("engines", "engine")[["weight_precision", "tuning_ratio"]], point, ["engine"])
    peak, share = (pd.Series(np.nan, index=rows.index) for _ in range(2))
    for precision, ways in PRECISIONS.items():
        for way in reversed(ways):
            flops, reach = PEAKS[way]
            mine = engine["weight_precision"].eq(precision) & chip[flops].notna()
            peak = peak.where(~mine, chip[flops].astype(float))
            share = share.where(~mine, family[reach].astype(float))
    tuning = engine["tuning_ratio"].astype(float).fillna(1.0) * facts.scenario.settings.engine_tuning_ratio
    share = np.minimum(share * np.maximum(tuning, 1.0), 1.0)
    about, shape = at(facts.workloads, rows, ["workload"]), at(books.tokens, rows, ["workload", "shape"])
    lengths = facts.table("shapes", "workload").set_index("shape", append=True)["input_tokens"].astype(float)
    hit = point["cache_hit_fraction"].astype(float)
    hit = hit.where(hit.notna(), about["cached_input_fraction"].astype(float))
    prompt = at(lengths, rows, ["workload", "shape"]).fillna(0.0) * (1.0 - hit)
    tokens = (
        prompt.where(point["phase"].ne("decode"), 0.0) + shape["output_tokens"] * about["reasoning_ratio"]
    )
    active = at(facts.table("models", "model")["parameters_active_b"], point, ["model"]).astype(float)
    rate = peak * FLOPS_PER_TFLOPS * product["chips_per_unit"].astype(float)
    rate = (rate / (2.0 * active * PARAMS_PER_BILLION * tokens)).where(~shape["opaque"].astype(bool))
    return rate, rate * share


def terms(rows: pd.DataFrame) -> np.ndarray:
    """Return each limit times the shares after it, (rows, links); infinite where a link sets none."""
    after = np.ones(len(rows))
    found = np.full((len(rows), len(LINKS)), np.inf)
    for place in range(len(LINKS) - 1, -1, -1):
        values = rows[list(LINKS.values())[place]].to_numpy(float)
        if list(LINKS.values())[place].endswith("_fraction"):
            after = after * values
        else:
            found[:, place] = np.where(np.isnan(values), np.inf, values * after)
    return found


def least(rows: pd.DataFrame) -> np.ndarray:
    """Return the least term of each row: the output."""
    return np.asarray(terms(rows).min(axis=1)) if len(rows) else np.zeros(0)


def _binding(found: np.ndarray) -> np.ndarray:
    """Return the last link whose term is the least one."""
    smallest = found.min(axis=1, keepdims=True)
    tied = found <= smallest * (1.0 + SAME)
    return found.shape[1] - 1 - np.argmax(tied[:, ::-1], axis=1)


def gains(rows: pd.DataFrame, by: float) -> np.ndarray:
    """Return what loosening each link by a fraction adds to the output of each row, (rows, links); shares up to 1."""
    found, columns = terms(rows), list(LINKS.values())
    output = found.min(axis=1)
    added = np.zeros_like(found)
    for place, column in enumerate(columns):
        loose = found.copy()
        if column.endswith("_fraction"):
            share = rows[column].to_numpy(float)
            loose[:, :place] *= np.minimum(1.0 + by, 1.0 / np.where(share > 0, share, 1.0))[:, None]
        else:
            loose[:, place] *= 1.0 + by
        added[:, place] = loose.min(axis=1) - output
    return np.where(added > SAME * output[:, None], added, 0.0)


def followers(rows: pd.DataFrame) -> np.ndarray:
    """Return the limit that has the least term once each link is out of the way, (rows, links); -1 where none follows.

    A share that is worth nothing has no follower, nor has a limit that does not bind.
    """
    found, columns = terms(rows), list(LINKS.values())
    binds, most = _binding(found), gains(rows, FREED)
    result = np.full(found.shape, -1)
    for place, column in enumerate(columns):
        free = found.copy()
        if column.endswith("_fraction"):
            share = rows[column].to_numpy(float)
            free[:, :place] /= np.where(share > 0, share, 1.0)[:, None]
        else:
            free[:, place] *= 1.0 + FREED
        after = _binding(free)
        result[:, place] = np.where((most[:, place] > 0) | ((binds == place) & (after != place)), after, -1)
    return result


def hour_rows(books: Books) -> pd.DataFrame:
    """Return ``link_rows`` with binding, worth_per_cent, next_link, next_per_cent."""
    rows = link_rows(books)
    if rows.empty:
        return rows.assign(binding="", worth_per_cent=0.0, next_link="", next_per_cent=0.0)
    names, found = np.array(list(LINKS)), terms(rows)
    at_row = np.arange(len(rows)), _binding(found)
    output, after = found.min(axis=1), followers(rows)[at_row]
    most = gains(rows, FREED)[at_row]
    return rows.assign(
        binding=names[at_row[1]],
        worth_per_cent=gains(rows, 0.01)[at_row],
        next_link=np.where(after >= 0, names[after], ""),
        next_per_cent=np.divide(100.0 * most, output, out=np.zeros(len(rows)), where=output > 0),
    )


def _worths(rows: pd.DataFrame) -> pd.DataFrame:
    """Return binding_fraction, worth_per_cent, most_worth, next_link, next_per_cent, binding of one scope by link.

    Of the last link, the outcomes of requests, no capacity is held: it never binds.
    """
    names, found = np.array(list(LINKS)), terms(rows)
    worth, most, after = gains(rows, 0.01), gains(rows, FREED), followers(rows)
    binds, weight, last = _binding(found), rows["unit_hours"].to_numpy(float), len(names) - 1
    table = []
    loose = worth > 0
    loose[:, last] = False
    for row in np.flatnonzero(~loose.any(axis=1)):
        loose[row, binds[row]] = True
    for place, name in enumerate(names):
        follows = after[:, place]
        weighed = [
            weight[follows == one].sum() if (follows == one).any() else -1.0 for one in range(len(names))
        ]
        output = found.min(axis=1)[loose[:, place] | (worth[:, place] > 0)].sum()
        gained = most[:, place].sum()
        table.append(
            {
                "link": name,
                "binding_fraction": (weight * loose[:, place]).sum() / weight.sum()
                if weight.sum()
                else loose[:, place].mean(),
                "worth_per_cent": worth[:, place].sum(),
                "most_worth": gained,
                "next_link": names[int(np.argmax(weighed))] if max(weighed) >= 0 else "",
                "next_per_cent": 100.0 * gained / output if output else 0.0,
            }
        )
    result = pd.DataFrame(table)
    judged = result.iloc[:last]
    column = "worth_per_cent" if judged["worth_per_cent"].max() > 0 else "binding_fraction"
    # Of links worth the same but for rounding, the first.
    most_valued = judged[column].to_numpy(float)
    chosen = min(place for place, one in enumerate(most_valued) if one >= (1.0 - SAME) * most_valued.max())
    return result.assign(binding=np.arange(len(names)) == chosen)


def waterfall_rows(books: Accounts) -> pd.DataFrame:
    """Return scope, link, value, unit, factor, loss_fraction and ``_worths`` of every chain, sums over its rows."""
    rows = link_rows(books)
    api = books.plan.frames.get("api", pd.DataFrame(columns=["workload", "effective_mtok"]))
    bought = total(api["effective_mtok"], api, ["workload"])
    bought = bought[bought > 0]
    of_tokens = rows[rows["unit"].eq(TOKENS)]
    scopes = list(dict.fromkeys([*of_tokens["workload"], *bought.index]))
    parts = [(ALL, of_tokens, float(bought.sum()))] if scopes else []
    parts += [
        (str(name), of_tokens[of_tokens["workload"].eq(name)], float(bought.get(name, 0.0)))
        for name in scopes
    ]
    others = rows[rows["unit"].eq(REQUESTS)]
    parts += [(str(name), mine, 0.0) for name, mine in others.groupby("workload", sort=False)]
    made = [_chain(scope, mine, more) for scope, mine, more in parts]
    columns = ["scope", "link", "value", "unit", "factor", "loss_fraction"]
    return pd.concat(made, ignore_index=True) if made else pd.DataFrame(columns=columns)


def _chain(scope: str, rows: pd.DataFrame, bought: float) -> pd.DataFrame:
    values, names = [], list(LINKS)
    if len(rows):
        unit = str(rows["unit"].iloc[0])
        for place in range(len(names)):
            kept = rows.copy()
            for later in list(LINKS.values())[place + 1 :]:
                kept[later] = 1.0 if later.endswith("_fraction") else np.nan
            values.append(float(least(kept).sum()))
        if unit == REQUESTS:
            names[-1] = "effective requests"
    else:
        unit, names = TOKENS, []
    table = pd.DataFrame({"link": names, "value": np.asarray(values, dtype=float)})
    if len(rows):
        table = pd.concat([table, _worths(rows).drop(columns="link")], axis=1)
    table = table[np.isfinite(table["value"])].reset_index(drop=True)
    before = table["value"].shift(1)
    table["factor"] = (table["value"] / before.where(before > 0)).fillna(1.0).where(before.notna())
    table["loss_fraction"] = 1.0 - table["factor"]
    if bought:
        last = float(table["value"].iloc[-1]) if len(table) else 0.0
        service = pd.DataFrame([{"link": "with API tokens", "value": last + bought} | NO_LINK])
        table = pd.concat([table, service], ignore_index=True) if len(table) else service
    return table.assign(scope=scope, unit=unit)


def _frame(name: str, stated: pd.DataFrame | None, own: pd.DataFrame, key: list[str]) -> Check:
    if stated is None:
        return Check(name, name, NOTHING, 0.0, 0.0, 0.0, 0.0, True, 0)
    return alike(name, name, stated, own, key)


def waterfall_hours(books: Accounts) -> Check:
    """Return the check of what each link lets through by point and block, the link that binds and what follows it."""
    return _frame("waterfall_hours", books.plan.frames.get("waterfall_hours"), hour_rows(books), KEY)


def waterfall(books: Accounts) -> Check:
    """Return the check of every link over the horizon: value, factor, loss, how often it binds and what it is worth."""
    return _frame("waterfall", books.plan.frames.get("waterfall"), waterfall_rows(books), ["scope", "link"])


CHECKS = (waterfall_hours, waterfall)
