"""How much of its demand a business line is served at its own terms, and what happens to the rest."""

from __future__ import annotations

from planner.tables.schema import Kinds, Table, choice, key, number, positive

BEYOND = ("degrade", "queue", "refuse")

QUOTAS = Table(
    "quotas",
    "caps on what business lines or workloads are served at their own terms; applied in the order of the rows",
    ("quota",),
    (
        key("quota", "name of the cap"),
        key(
            "business",
            "business line whose workloads share the cap; give this or workload",
            "workloads.business",
            required=False,
        ),
        key(
            "workload", "workload under the cap; give this or business", "workloads.workload", required=False
        ),
        key("period", "which period; blank = each one", "periods.period", required=False),
        number(
            "cap_requests_per_s",
            "requests/s",
            "most first attempts of an hour, all regions together; give one of the three caps",
        ),
        number(
            "cap_mtok",
            "Mtok",
            "most visible output of first attempts in each period; give one of the three caps",
        ),
        number(
            "cap_currency",
            "currency",
            "most a period may cost its payer at price_per_mtok; give one of the three caps",
        ),
        positive(
            "price_per_mtok",
            "currency/Mtok",
            "price at which visible output is charged to the payer; with cap_currency",
            soft=(0.01, 500),
            band=(1e-4, 1e5),
        ),
        choice(
            "beyond",
            "what is done with requests beyond the cap: served as those of another workload, kept waiting for an "
            "hour with room, or refused",
            BEYOND,
        ),
        key(
            "fallback_workload",
            "with degrade: workload (its model, class, quality and targets) that requests beyond the cap are served as",
            "workloads.workload",
            required=False,
        ),
        number(
            "queue_h",
            "h",
            "with queue: whole hours a request waits for room before it is refused",
            low=1,
            high=23,
        ),
    ),
    scope="scenario",
    kinds=(
        Kinds("a quota whose rest is to", "beyond", BEYOND),
        Kinds("a cap in", "cap_currency ?", ("money", "requests or tokens")),
    ),
)

TABLES = (QUOTAS,)
