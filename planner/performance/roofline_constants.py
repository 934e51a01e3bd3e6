"""Constants of the roofline that belong to no chip family and no engine, read from their library table."""

from __future__ import annotations

from dataclasses import dataclass, fields

import pandas as pd

from planner.errors import Fault, InputError


@dataclass(frozen=True)
class RooflineConstants:
    """Values of table ``roofline_constants`` by name (units there).

    Attributes
    ----------
    overlap_fraction
        Share of the shorter of memory and compute time that the longer one does not hide.
    expert_bandwidth_fraction
        Achieved share of bandwidth for scattered expert weights relative to dense weights.
    collective_latency_us
        Fixed time of one collective over the scale-up links.
    link_efficiency_fraction
        Achieved share of the link bandwidth.
    memory_overhead_gb
        Activations, graphs and library buffers per chip.
    sequence_limit
        Most sequences an engine schedules at once.
    ttft_floor_ms, ttft_prefill_ratio
        Host time before a first token, and its time over the bare prefill time.
    measured_band_low_ratio, measured_band_high_ratio, anchored_band_low_ratio, anchored_band_high_ratio
        Error bands (true / stated) of measured and of anchored points.
    opaque_prefill_time_fraction
        Share of busy time in prefill where a mixed point states only its rate.
    prefill_power_ratio, decode_power_ratio
        Draw above idle in each phase relative to the busy draw of the product.
    """

    overlap_fraction: float
    expert_bandwidth_fraction: float
    collective_latency_us: float
    link_efficiency_fraction: float
    memory_overhead_gb: float
    sequence_limit: float
    ttft_floor_ms: float
    ttft_prefill_ratio: float
    measured_band_low_ratio: float
    measured_band_high_ratio: float
    anchored_band_low_ratio: float
    anchored_band_high_ratio: float
    opaque_prefill_time_fraction: float
    prefill_power_ratio: float
    decode_power_ratio: float

    @property
    def memory_overhead_bytes(self) -> float:
        """Return the overhead per chip in bytes."""
        return self.memory_overhead_gb * 1e9


def roofline_constants(table: pd.DataFrame) -> RooflineConstants:
    """Return the constants of the table; a missing name is an input fault, never a default."""
    values = dict(zip(table["constant"], table["value"], strict=True))
    names = [field.name for field in fields(RooflineConstants)]
    faults = [
        Fault("roofline_constants.csv", f"constant {name} is missing", column="constant", value=name)
        for name in names
        if name not in values
    ]
    if faults:
        raise InputError(faults)
    return RooflineConstants(**{name: float(values[name]) for name in names})
