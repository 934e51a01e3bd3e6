"""Names of price lists and bills as keys of the catalogue: chips, regions and hosted products."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from planner.inputs.catalog import shipped_catalog
from planner.inputs.names import Names, names_of
from planner.inputs.parse import typed_frame
from planner.inputs.read import read_tables

NEEDED = ("aliases", "chips", "regions", "products")


@dataclass(frozen=True)
class PriceNames:
    """Keys that prices refer to, with their foreign spellings in small letters.

    Attributes
    ----------
    chips, products
        Tables indexed by key; the scenario's rows replace shipped ones.
    chip_names
        How chips may be spelt.
    regions
        Spelling of a region, or its key, to the key.
    """

    chips: pd.DataFrame
    products: pd.DataFrame
    chip_names: Names
    regions: Mapping[str, str]

    def find(self, kind: str, name: str) -> str | None:
        """Return the key a chip's or region's name stands for, None when it is unknown or fits several."""
        if kind == "chip":
            return self.chip_names.find(name)
        return self.regions.get(name.strip().lower())

    def hosted_product(self, chip: str, chips_per_unit: int) -> str | None:
        """Return the product that is an instance of so many chips, None when the catalogue has none."""
        rows = self.products
        fits = (rows["chip"] == chip) & (rows["chips_per_unit"] == chips_per_unit)
        fits &= pd.Series(["hosted" in tuple(names) for names in rows["coolings"]], index=rows.index)
        return str(rows.index[fits][0]) if fits.any() else None


def price_names(scenario: str | None = None) -> PriceNames:
    """Return the names of the shipped catalogue and of a scenario folder or workbook."""
    own = {} if scenario is None else read_tables(Path(scenario))[1]
    tables = {}
    for name in NEEDED:
        shipped = shipped_catalog()[name].frame
        tables[name] = pd.concat([typed_frame(name, own[name]), shipped]) if name in own else shipped
    aliases = tables["aliases"].drop_duplicates(["kind", "alias"])
    listed = aliases[aliases["kind"].eq("region")]
    regions = dict(zip(listed["alias"].str.lower(), listed["name"], strict=True))
    regions |= {str(key).lower(): str(key) for key in tables["regions"]["region"]}
    chip_names = names_of("chip", tables["chips"]["chip"], aliases)
    keyed = {name: tables[name].drop_duplicates(name[:-1]).set_index(name[:-1]) for name in NEEDED[1:]}
    return PriceNames(keyed["chips"], keyed["products"], chip_names, regions)


def slug(text: str) -> str:
    """Return a text as a key: small letters, digits, underscores.

    >>> slug("Lambda Labs (2026)")
    'lambda_labs_2026'
    """
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")
