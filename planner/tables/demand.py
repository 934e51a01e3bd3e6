"""Periods, workloads, request shapes, forecasts and hourly profiles."""

from __future__ import annotations

from planner.tables.schema import (
    HOURS,
    Kinds,
    Table,
    choice,
    date,
    flag,
    fraction,
    integer,
    key,
    keys,
    number,
    positive,
    provenance,
    text,
)

PERCENTILES = ("mean", "median", "p90", "p95", "p99")

SIZING = ("peak", "p99", "mean", "attained")

PERIODS = Table(
    "periods",
    "the planning horizon, one row per period, in order, without gaps",
    ("period",),
    (
        key("period", "name of the period"),
        date("start_date", "first day", required=True),
        integer("months", "months", "length; give either months or hours", low=1, high=60),
        positive("hours", "h", "length of a period that is not whole months"),
    ),
    scope="scenario",
)

SERVICE_CLASSES = Table(
    "service_classes",
    "scenario-to-metric table: what each kind of service needs",
    ("service_class",),
    (
        key("service_class", "name of the class"),
        text("meaning", "who waits for the answer, and how", required=True),
        positive(
            "ttft_ms",
            "ms",
            "time to first token, waiting and network included; blank = no target",
            soft=(100, 6e5),
            band=(20, 3.6e6),
        ),
        positive(
            "tpot_ms",
            "ms",
            "time per output token; blank = no target",
            soft=(3, 1_000),
            band=(0.5, 1e4),
        ),
        positive("e2e_ms", "ms", "request complete; blank = no target", soft=(200, 8.64e7), band=(20, 6e8)),
        choice("percentile", "statistic the targets hold for", PERCENTILES),
        fraction(
            "availability_fraction",
            "share of time the service answers; sizes nothing: a plan shows what its units reach beside it and warns "
            "where that is less; spares come from settings spare_confidence_fraction",
            required=True,
        ),
        fraction(
            "guaranteed_share",
            "least served share of optional demand of its workloads over that of any other workload; blank = 0",
        ),
        fraction(
            "spot_fraction",
            "most of a workload's units that may be on spot, whose provider takes them away at short notice; 0 = none; "
            "blank = all",
        ),
        number(
            "deferral_h",
            "h",
            "how long a request may wait for a better hour; 0 = not at all; used where settings defer_demand",
            required=True,
            high=8_760,
        ),
        *provenance(),
    ),
    only_stated="meaning",
)

OF_A_MODEL = (
    "cache_write_fraction reusable_input_fraction session_think_s arrival_cv input_cv "
    "arrival_dispersion arrival_dispersion_1s busy_dispersion busy_dispersion_1s prompt_scv"
)
"""Columns of caches and waiting, none of which are computed for rates that are stated outright."""

WORKLOADS = Table(
    "workloads",
    "business line x model x service class",
    ("workload",),
    (
        key("workload", "name of the workload"),
        text("business", "business line that pays", required=True),
        key("model", "model it calls; blank when its points are opaque", "models.model", required=False),
        key("service_class", "which targets apply", "service_classes.service_class", required=False),
        keys("engines", "engine configurations it accepts; blank = all", "engines.engine"),
        keys(
            "engine_options",
            "options a plan may choose among beside the plain engine; blank = the plain engine only",
            "engine_options.option",
        ),
        positive("ttft_ms", "ms", "overrides the class", soft=(100, 6e5), band=(20, 3.6e6)),
        positive("tpot_ms", "ms", "overrides the class", soft=(3, 1_000), band=(0.5, 1e4)),
        positive("e2e_ms", "ms", "overrides the class", soft=(200, 8.64e7), band=(20, 6e8)),
        choice("percentile", "overrides the class", PERCENTILES, required=False),
        number(
            "waiting_ms",
            "ms",
            "allowance for queueing inside the TTFT target; blank = waiting, tails and the load a pool of replicas may "
            "carry come from the queue model",
            band=(0, 3.6e6),
        ),
        fraction("success_fraction", "requests that complete", required=True),
        fraction("quality_pass_fraction", "answers accepted at reference precision", required=True),
        number(
            "retry_fraction",
            "retries/request",
            "extra attempts per request, all of which load the fleet",
            required=True,
            high=10,
            soft=(0, 0.5),
            band=(0, 3),
        ),
        positive(
            "reasoning_ratio",
            "generated/visible",
            "generated tokens per visible output token",
            required=True,
            soft=(1, 15),
            band=(1, 100),
        ),
        fraction(
            "cached_input_fraction",
            "prompt tokens found in the prefix cache of the replica that holds the prefix (see router)",
            required=True,
        ),
        choice(
            "router",
            "how requests are spread over the replicas of a pool: round_robin in turn, each replica with a line of its "
            "own; least_load to the one with the fewest; prefix_aware to the one that holds the prefix, each with a "
            "line of its own; blank = least_load that finds every prefix",
            ("round_robin", "least_load", "prefix_aware"),
            required=False,
        ),
        integer(
            "router_replicas",
            "replicas",
            "replicas behind one router round_robin or least_load: a repeated prompt meets its prefix on one of them",
            low=1,
            high=100_000,
        ),
        flag(
            "cache_shared",
            "true: replicas share one prefix cache, so any of them finds a prefix; blank = false",
        ),
        fraction(
            "cache_write_fraction",
            "prompt tokens written to the prefix cache of a token service, billed at its price of cache writes; the "
            "rest of what is not found there is billed as fresh; blank = 0",
        ),
        fraction(
            "reusable_input_fraction",
            "prompt tokens that the same session has sent before: what a prefix cache without limit of memory "
            "would find; needed for options with a prefix cache",
        ),
        number(
            "session_think_s",
            "s",
            "mean time between an answer and the next request of its session; needed for options with a prefix cache",
            high=1e6,
        ),
        number(
            "deferral_h",
            "h",
            "how long a request may wait for a better hour; blank = the class's; used where settings defer_demand",
            high=8_760,
        ),
        positive(
            "minute_peak_input_ratio",
            "peak/mean",
            "busiest minute over its hour, prompt tokens",
            required=True,
            band=(1, 1_000),
        ),
        positive(
            "minute_peak_output_ratio",
            "peak/mean",
            "busiest minute over its hour, output tokens",
            required=True,
            band=(1, 1_000),
        ),
        choice(
            "sizing_statistic",
            "minute of an hour that capacity is sized on; blank = peak, the busiest; mean only where replicas "
            "start within the minute; attained: the percentile of the targets holds over the requests of the hour, "
            "quiet and busy minutes together, instead of in its busiest minute alone",
            SIZING,
            required=False,
        ),
        positive(
            "minute_p99_input_ratio",
            "p99/mean",
            "99th percentile of the minutes over their hour, prompt tokens; needed for sizing on p99",
            band=(1, 1_000),
        ),
        positive(
            "minute_p99_output_ratio",
            "p99/mean",
            "99th percentile of the minutes over their hour, output tokens; needed for sizing on p99",
            band=(1, 1_000),
        ),
        number(
            "scale_up_delay_s",
            "s",
            "time from the decision to start a replica until it serves; what rises faster must be running before: by "
            "the hour units stand by warm as scaling says; blank = at once",
            high=86_400,
        ),
        choice(
            "scaling",
            "with scale_up_delay_s: predictive = the hours are known, each holds the rise that follows it; reactive = "
            "load is seen when it is there, the largest rise is held in every hour below the peak; blank = reactive",
            ("reactive", "predictive"),
            required=False,
        ),
        number(
            "arrival_cv",
            "std/mean",
            "requests per minute around the mean of their hour: their swing with sizing_statistic attained; "
            "stated only otherwise, the minute peaks size a plan",
        ),
        number(
            "input_cv",
            "std/mean",
            "the same for prompt tokens per minute: prompts of one time resemble each other; blank = that of requests",
        ),
        number(
            "arrival_dispersion",
            "variance/mean",
            "requests per ten seconds around the mean of their minute; blank = 1, Poisson arrivals",
            high=10_000,
        ),
        number(
            "arrival_dispersion_1s",
            "variance/mean",
            "the same for requests per second; blank = in proportion, as bursts of ten seconds and more would give",
            high=10_000,
        ),
        number(
            "busy_dispersion",
            "variance/mean",
            "arrival_dispersion inside the busiest tenth of the minutes, which sizes capacity unless sizing_statistic "
            "is attained; blank = that of all minutes",
            high=10_000,
        ),
        number(
            "busy_dispersion_1s",
            "variance/mean",
            "the same for requests per second; blank = in proportion",
            high=10_000,
        ),
        number(
            "prompt_scv",
            "variance/mean^2",
            "squared coefficient of variation of prompt lengths; blank = that of the shapes alone",
            high=1_000,
        ),
        integer(
            "priority",
            "rank",
            "1 is first: with settings priority_rule strict, optional demand is served only where all of the earlier "
            "ranks is; weighted, in proportion to 1 / priority at least; otherwise value_per_mtok alone decides",
            required=True,
            low=1,
            high=99,
        ),
        fraction(
            "must_serve_fraction", "share of demand that is a hard limit; the rest is optional", required=True
        ),
        fraction(
            "unranked_fraction",
            "share of the optional demand that waits for no earlier rank, with settings priority_rule strict: it is "
            "served where its value pays; blank = 0",
        ),
        fraction(
            "guaranteed_share",
            "least served share of its optional demand over that of any other workload in the same region and block, "
            "whatever the priority_rule: it does not starve while another is served; blank = the class's",
        ),
        number(
            "value_per_mtok",
            "currency/Mtok",
            "value of one million effective tokens of optional demand; of a million requests where no length is stated",
            soft=(0, 500),
            band=(0, 1e5),
        ),
        number(
            "egress_bytes_per_token",
            "bytes/token",
            "bytes sent to the user per visible output token, framing included; blank = 0, no egress is paid",
            soft=(2, 1_000),
            band=(0, 1e5),
        ),
        fraction(
            "critical_fraction",
            "share of demand still served, within its latency, after every loss of failure_cases; blank = 0",
        ),
        keys(
            "residency_regions",
            "regions in which alone it may run; with residency_countries: either; both blank = anywhere",
            "regions.region",
        ),
        keys("residency_countries", "countries in which alone it may run, as regions spells them"),
        *provenance(required=False),
    ),
    scope="scenario",
    kinds=(Kinds("a workload whose model is", "model ?", ("named", "blank")),),
    only_for={"named": OF_A_MODEL},
    only_warned=OF_A_MODEL,
)

SHAPES = Table(
    "shapes",
    "request shapes: the length histogram of a workload",
    ("workload", "shape"),
    (
        key("workload", "which workload", "workloads.workload"),
        key("shape", "name of the shape inside the workload"),
        fraction("share_fraction", "share of requests; sums to 1 per workload", required=True),
        positive(
            "input_tokens", "tokens", "prompt length; blank when opaque", soft=(1, 200_000), band=(1, 4e6)
        ),
        positive(
            "output_tokens",
            "tokens",
            "visible output length; blank when opaque (then it is counted in requests, in no token figure)",
            soft=(1, 20_000),
            band=(1, 4e5),
        ),
        *provenance(required=False),
    ),
    scope="scenario",
    kinds=(Kinds("a workload whose model is", "workload > workloads.model ?", ("named", "blank")),),
)

DEMAND = Table(
    "demand",
    "forecast by workload, region and period",
    ("workload", "region", "period"),
    (
        key("workload", "which workload", "workloads.workload"),
        key("region", "where the users are", "regions.region"),
        key("period", "when", "periods.period"),
        number(
            "requests_per_s",
            "requests/s",
            "mean rate over the period, first attempts; give this or output_mtok_per_day",
        ),
        number("requests_per_s_low", "requests/s", "low case"),
        number("requests_per_s_high", "requests/s", "high case"),
        number("output_mtok_per_day", "Mtok/day", "visible output tokens per day"),
        number("output_mtok_per_day_low", "Mtok/day", "low case"),
        number("output_mtok_per_day_high", "Mtok/day", "high case"),
        key("profile", "hourly shape; blank = flat", "profiles.profile", required=False),
    ),
    scope="scenario",
)

PROFILES = Table(
    "profiles",
    "relative load by local hour and day type; the mean over a week is 1",
    ("profile", "day_type"),
    (
        key("profile", "name of the shape"),
        choice("day_type", "days it holds for", ("all", "weekday", "weekend")),
        *(
            number(hour, "relative", f"load in the local hour {hour[1:]}", required=True, high=1_000)
            for hour in HOURS
        ),
        *provenance(),
    ),
)

TABLES = (PERIODS, SERVICE_CLASSES, WORKLOADS, SHAPES, DEMAND, PROFILES)
