"""The constants the roofline fit moves: start, prior width, and the catalogue cell each one fills.

Widths are standard deviations of the natural logarithm: 0.15 allows about +-15 %. Starts are round values of
the right size (achieved shares of peak from product benchmarks, launch times of tens of microseconds), the
same for every family and era, so that a group without data of its own inherits the common value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

Key = tuple[str, str]

FITTED_ON = "2026-12-01"
"""Date written beside fitted cells."""

SOURCE_WEIGHT = {"ARG": 0.8, "GAU": 1.5, "OCI": 2.0, "AMD": 1.5, "AMDL": 2.0, "TPS": 0.1, "TPU": 2.0}
"""Weight of a row by its source (1 elsewhere): small sources count more, an experimental one less."""

BORROWED = {
    "mi350": ("mi300", 0.68 / 0.51, "compute share raised by 0.68/0.51, the measured BF16 product shares"),
    "mi400": ("mi300", 0.68 / 0.51, "compute share raised by 0.68/0.51, the measured BF16 product shares"),
    "rubin": ("blackwell", 1.0, "the generation before it; no part is measured yet"),
    "tpu_v5": ("tpu_v6e", 1.0, "two rows behind it"),
    "tpu_v7": ("tpu_v6e", 1.0, "two rows behind it"),
    "trainium": ("mi200", 1.0, "the weakest fitted family: untuned software is the rule"),
    "ada_consumer": (
        "ada",
        2.0,
        "compute share doubled, as the peaks count FP32 accumulation at half rate",
    ),
    "ascend": ("mi200", 1.0, "the weakest fitted family: untuned software is the rule"),
    "max1550": (
        "mi200",
        1.0,
        "the weakest fitted family; its own measured rows are of untuned 2024 software",
    ),
}
"""Families without usable rows: whose constants they borrow, a factor on the compute share, and why."""

WIDE_BAND = {"tpu_v6e": (0.5, 2.0), "mi350": (0.5, 2.0), "tpu_v5": (0.5, 2.0)}
WIDEST_BAND = (0.4, 2.5)
NARROWEST_BAND = (0.74, 1.33)


@dataclass(frozen=True)
class Parameter:
    """One constant: key (column, row), starting value, prior width in the logarithm.

    A share of a hardware limit stays below 1 whatever the rows say.
    """

    key: Key
    start: float
    width: float

    @property
    def ceiling(self) -> float:
        """Return the largest value allowed."""
        return 1.0 if self.key[0].endswith("_fraction") else np.inf

    @property
    def floor(self) -> float:
        """Return the smallest value allowed: no first token comes before its own prompt is done."""
        return 1.0 if self.key[0] == "first_token_prefill_ratio" else 0.0

    @property
    def group(self) -> Key:
        """Return what this constant may be moved together with: those of other families, or eras, see other rows."""
        return self.key if self.key[1] in ("constant", "all") else (self.key[0], "each")


CONSTANTS = (
    ("overlap_exponent", 2.0, 0.4),
    ("activation_passes", 8.0, 0.6),
    ("expert_read_ratio", 1.0, 0.3),
    ("expert_mfu_ratio", 0.6, 0.4),
    ("expert_size_exponent", 0.3, 0.6),
    ("expert_tile_tokens", 8.0, 0.5),
    ("expert_layer_ratio", 1.3, 0.3),
    ("latent_layer_ratio", 1.2, 0.3),
    ("indexer_layer_ratio", 1.2, 0.3),
    ("kv_bandwidth_ratio", 0.9, 0.2),
    ("latent_kv_bandwidth_ratio", 0.7, 0.4),
    ("decode_attention_mfu_ratio", 0.6, 0.4),
    ("prefill_attention_mfu_ratio", 0.35, 0.1),
    ("prefill_time_ratio", 1.0, 0.3),
    ("sparse_prefill_ratio", 2.0, 0.6),
    ("collective_latency_us", 8.0, 0.5),
    ("collective_chips_exponent", 0.3, 0.6),
    ("link_efficiency_fraction", 0.75, 0.2),
    ("bus_efficiency_fraction", 0.75, 0.2),
    ("attention_dp_imbalance_ratio", 1.2, 0.3),
    ("pipeline_imbalance_ratio", 1.1, 0.2),
    ("memory_overhead_gb", 1.0, 0.5),
)
FIRST_TOKEN = (
    ("first_token_prefill_ratio", 1.2, 1.0),
    ("first_token_step_ratio", 3.0, 1.0),
    ("first_token_chunk_tokens", 8192.0, 1.0),
    ("first_token_queue_ratio", 0.1, 1.0),
)


GRAPHED = ("vLLM", "TensorRT-LLM", "SGLang")
"""Eras that replay a whole decode step as one CUDA graph."""


def layer_prior(era: str) -> tuple[float, float]:
    """Return start and width of the host and launch time per layer, us.

    About ten kernels per layer: 4 to 5 us each when replayed from a graph (the shortest a kernel takes with the
    gap behind it), twice that when the host launches every one.
    """
    return (45.0, 0.2) if era in GRAPHED else (90.0, 0.2)


def parameters(families: list[str], eras: list[str]) -> list[Parameter]:
    """Return the decode and rate parameters."""
    found: list[Parameter] = []
    for family in families:
        found += [
            Parameter(("bandwidth_efficiency_fraction", family), 0.85, 0.15),
            Parameter(("mfu_bf16_fraction", family), 0.6, 0.3),
            Parameter(("overhead_ratio", family), 1.0, 0.001 if family == "hopper" else 0.15),
        ]
    for era in eras:
        found += [
            Parameter(("layer_overhead_us", era), *layer_prior(era)),
            Parameter(("step_overhead_us", era), 300.0, 0.4),
            Parameter(("sequence_overhead_us", era), 10.0, 0.3),
        ]
    found += [
        Parameter(("fp8_ratio", "all"), 1.0, 0.15),
        Parameter(("fp4_ratio", "other"), 0.5, 0.4),
        Parameter(("fp4_ratio", "rtx_pro_6000"), 0.5, 0.4),
    ]
    return found + [Parameter((name, "constant"), start, width) for name, start, width in CONSTANTS]


def first_token_parameters(eras: list[str]) -> list[Parameter]:
    """Return the parameters of the time to first token."""
    found = [Parameter(("first_token_overhead_ms", era), 40.0, 0.8) for era in eras]
    return found + [Parameter((name, "constant"), start, width) for name, start, width in FIRST_TOKEN]


def rounded(value: float) -> float:
    """Return three significant digits: more would pretend an accuracy the fit does not have."""
    return float(f"{value:.3g}")


def fp4_ratio(values: dict[Key, float], family: str) -> float:
    """Return the achieved FP4 share of the FP4 peak over the BF16 share of the BF16 peak."""
    return values["fp4_ratio", "rtx_pro_6000" if family == "rtx_pro_6000" else "other"]


def error_band(log_error: np.ndarray) -> tuple[float, float]:
    """Return true / predicted rate at the 5th and 95th percentile, never narrower than NARROWEST_BAND.

    ``log_error`` is log(predicted / true time), which is log(true / predicted rate).
    """
    low, high = np.exp(np.nanquantile(log_error, [0.05, 0.95]))
    return min(rounded(low), NARROWEST_BAND[0]), max(rounded(high), NARROWEST_BAND[1])


def family_frame(
    shipped: pd.DataFrame, values: dict[Key, float], log_error: np.ndarray, family: np.ndarray
) -> pd.DataFrame:
    """Return table ``chip_families`` with fitted cells; source, date and paths a family lacks stay."""
    rows = shipped.copy()
    for position, name in enumerate(rows["family"]):
        origin, factor, why = BORROWED.get(name, (name, 1.0, ""))
        own = int((family == name).sum()) if name == origin else 0
        mfu = values["mfu_bf16_fraction", origin] * factor
        cells = {
            "bandwidth_efficiency_fraction": values["bandwidth_efficiency_fraction", origin],
            "mfu_bf16_fraction": mfu,
            "mfu_fp8_fraction": mfu * values["fp8_ratio", "all"],
            "mfu_fp4_fraction": mfu * fp4_ratio(values, name),
            "overhead_ratio": values["overhead_ratio", origin],
        }
        for column, value in cells.items():
            if pd.notna(rows[column].iloc[position]):
                rows.loc[rows.index[position], column] = rounded(value)
        band = error_band(log_error[family == name]) if own else WIDEST_BAND
        low, high = WIDE_BAND.get(name, band)
        fitted = own > 0 and name not in WIDE_BAND
        note = f"borrowed from {origin}: {why}" if name != origin else rows["notes"].iloc[position]
        rows.loc[rows.index[position], ["band_low_ratio", "band_high_ratio", "fit_rows"]] = [low, high, own]
        rows.loc[rows.index[position], "confidence"] = "derived" if fitted else "estimate"
        rows.loc[rows.index[position], "notes"] = note
        if fitted or name != origin:
            rows.loc[rows.index[position], "source_date"] = FITTED_ON
    return rows


def era_frame(shipped: pd.DataFrame, values: dict[Key, float], era: np.ndarray) -> pd.DataFrame:
    """Return table ``software_eras`` with fitted cells; the era of unknown software borrows vLLM's."""
    rows = shipped.copy()
    columns = ["layer_overhead_us", "step_overhead_us", "sequence_overhead_us", "first_token_overhead_ms"]
    for position, name in enumerate(rows["era"]):
        origin = name if (columns[0], name) in values else "vLLM"
        for column in columns:
            rows.loc[rows.index[position], column] = rounded(values[column, origin])
        rows.loc[rows.index[position], ["fit_rows", "source_date"]] = [int((era == name).sum()), FITTED_ON]
    return rows


def error_text(error: float) -> str:
    """Return a standard error (of a logarithm) in words."""
    if error < 0.005:
        return "no row moves it from its start: an assumption"
    return f"standard error {100.0 * error:.0f} %, from fits with one source left out"


def constant_frame(shipped: pd.DataFrame, values: dict[Key, float], errors: dict[Key, float]) -> pd.DataFrame:
    """Return table ``roofline_constants`` with fitted values and their standard errors; the others stay."""
    fitted = {name: rounded(value) for (name, item), value in values.items() if item == "constant"}
    said = {name: error_text(error) for (name, item), error in errors.items() if item == "constant"}
    value = shipped["constant"].map(fitted).astype(float).fillna(shipped["value"])
    date = shipped["source_date"].mask(shipped["constant"].isin(fitted), FITTED_ON)
    notes = shipped["constant"].map(said).fillna(shipped["notes"])
    return shipped.assign(value=value, source_date=date, notes=notes)
