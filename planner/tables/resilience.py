"""Which losses a plan must survive."""

from __future__ import annotations

from planner.tables.schema import Kinds, Table, choice, integer, key, text

LOSSES = ("each_site", "site", "units")

FAILURE_CASES = Table(
    "failure_cases",
    "losses after which the critical share of every workload is still served by what stands elsewhere",
    ("failure_case",),
    (
        key("failure_case", "name of the case"),
        choice("loss", "each site in turn, one named site, or units of one product at one place", LOSSES),
        key("site", "which site; of units: blank = at every site in turn", "sites.site", required=False),
        key(
            "product",
            "of units: which product; blank = every product in turn",
            "products.product",
            required=False,
        ),
        integer("units", "units", "of units: how many are lost at once", low=1, high=100_000),
        text("notes", "why this loss is planned for"),
    ),
    scope="scenario",
    kinds=(Kinds("a loss of", "loss", LOSSES),),
)

TABLES = (FAILURE_CASES,)
