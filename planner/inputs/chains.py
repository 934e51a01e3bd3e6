"""Halls that offer several power chains: each (cooling, chain) becomes an option of its own.

``facility_options.power_chains`` names the chains a cooling option can be had with at a site. Every pair turns into
a row of ``cooling`` called ``cooling@chain``, which carries its chain in ``power_chain`` and the option it shares
the limit on heat with in ``heat_limit_of``; whatever reads cooling options then chooses among them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.inputs.scenario import Scenario


def option_name(cooling: str, chain: str) -> str:
    """Return the name of a cooling option with a power chain.

    >>> option_name("air", "2N")
    'air@2N'
    """
    return f"{cooling}@{chain}"


def with_power_chains(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the tables with one facility and cooling option per power chain offered.

    What stands already (``existing_kw``, and lots of the fleet) stands on the first chain a hall names, and a retrofit
    goes from first chain to first chain. Without
    chains every table is returned as it is.
    """
    options = tables["facility_options"]
    offers = options["power_chains"].map(len).gt(0).to_numpy()
    if not offers.any():
        return dict(tables)
    spread = _spread_options(options)
    pairs = spread.loc[spread["chain"].notna(), ["base", "chain", "cooling"]].drop_duplicates()
    first = spread.drop_duplicates(["site", "base"]).set_index(["site", "base"])["cooling"]
    fleet, products = tables["fleet"], tables["products"]
    places = zip(fleet["site"], fleet["cooling"], strict=True)
    fleet = fleet.assign(
        cooling=pd.Series(
            [first.get(place, place[1]) for place in places], index=fleet.index, dtype=fleet["cooling"].dtype
        )
    )
    changes = tables["hall_retrofits"]
    for column in ("from_cooling", "to_cooling"):
        where = zip(changes["site"], changes[column], strict=True)
        changes = changes.assign(
            **{column: pd.Series([first.get(at, at[1]) for at in where], index=changes.index, dtype="str")}
        )
    names = pairs.groupby("base")["cooling"].agg(tuple).to_dict()
    admitted = [
        (*listed, *(name for base in listed for name in names.get(base, ())))
        for listed in products["coolings"]
    ]
    return {
        **tables,
        "facility_options": spread.drop(columns=["base", "chain"]),
        "cooling": pd.concat(
            [tables["cooling"], _options_on_chains(tables["cooling"], pairs)], ignore_index=True
        ),
        "fleet": fleet,
        "hall_retrofits": changes,
        "products": products.assign(coolings=pd.Series(admitted, index=products.index, dtype=object)),
    }


def _spread_options(options: pd.DataFrame) -> pd.DataFrame:
    """Return one row per chain of every facility option, with its ``base`` cooling and its ``chain``."""
    chains = [names or (None,) for names in options["power_chains"]]
    place = np.repeat(np.arange(len(options)), [len(names) for names in chains])
    rows = options.iloc[place].reset_index(drop=True)
    chain = pd.Series([name for names in chains for name in names], dtype="str")
    later = pd.Series(place).duplicated()
    named = [
        base if pd.isna(name) else option_name(base, name)
        for base, name in zip(rows["cooling"], chain, strict=True)
    ]
    return rows.assign(
        base=rows["cooling"],
        chain=chain,
        cooling=pd.Series(named, dtype="str"),
        existing_kw=rows["existing_kw"].mask(later),
        power_chains=pd.Series([()] * len(rows), dtype=object),
    )


def _options_on_chains(cooling: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    at = cooling.set_index("cooling", drop=False).loc[pairs["base"]].reset_index(drop=True)
    return at.assign(
        heat_limit_of=at["heat_limit_of"].fillna(at["cooling"]),
        cooling=pairs["cooling"].to_numpy(),
        power_chain=pairs["chain"].to_numpy(),
    ).astype({"cooling": "str", "power_chain": "str", "heat_limit_of": "str"})


def chain_of_options(scenario: Scenario) -> pd.DataFrame:
    """Return the numbers of the power chain behind every cooling option, index cooling; blank without a chain."""
    options = scenario.tables["cooling"].set_index("cooling")["power_chain"]
    chains = scenario.tables["power_chains"].set_index("power_chain")
    return chains.reindex(options.to_numpy()).set_axis(options.index)


def free_power_fraction(scenario: Scenario, options: pd.Series, site_headroom: pd.Series) -> pd.Series:
    """Return the share of usable power that options may take: 1 - headroom, more where modules carry load steps.

    Headroom is kept for steps in load. Modules that carry a margin above their rating for a step lift the limit by it,
    never above the whole: ``min(1, (1 - headroom) x (1 + margin))``.

    Parameters
    ----------
    options, site_headroom
        Cooling options, and the headroom of the site of each; it counts where the option's chain states none.
    """
    chains = chain_of_options(scenario)
    kept = options.map(chains["headroom_fraction"]).astype(float).fillna(site_headroom)
    margin = options.map(chains["transient_margin_fraction"]).astype(float).fillna(0.0)
    return ((1.0 - kept) * (1.0 + margin)).clip(upper=1.0)


def chain_clock(scenario: Scenario) -> pd.Series:
    """Return the clock held over the cooling's clock by cooling option, in the scenario's cooling case."""
    chains, case = chain_of_options(scenario), scenario.settings.cooling_case
    base = chains["frequency_fraction"]
    if case != "base":
        base = chains[f"frequency_{case}_fraction"].fillna(base)
    return base.fillna(1.0)


def distribution_loss(scenario: Scenario) -> pd.Series:
    """Return UPS, transformer and wiring loss over IT power by cooling option: the chain's, else its own."""
    own = scenario.tables["cooling"].set_index("cooling")["distribution_loss_fraction"]
    return chain_of_options(scenario)["distribution_loss_fraction"].fillna(own)
