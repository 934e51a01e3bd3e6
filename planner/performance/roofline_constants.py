"""Constants of the roofline that belong to no chip family and no engine, read from their library table."""

from __future__ import annotations

from dataclasses import dataclass, fields

import pandas as pd

from planner.errors import Fault, InputError
from planner.units import BYTES_PER_GB, US_PER_SECOND


@dataclass(frozen=True)
class RooflineConstants:
    """Values of table ``roofline_constants`` by name (units and meanings stand there), newest date last."""

    overlap_exponent: float
    activation_passes: float
    expert_read_ratio: float
    expert_mfu_ratio: float
    expert_size_exponent: float
    expert_tile_tokens: float
    expert_layer_ratio: float
    latent_layer_ratio: float
    indexer_layer_ratio: float
    kv_bandwidth_ratio: float
    latent_kv_bandwidth_ratio: float
    decode_attention_mfu_ratio: float
    prefill_attention_mfu_ratio: float
    prefill_time_ratio: float
    sparse_prefill_ratio: float
    collective_latency_us: float
    collective_chips_exponent: float
    link_efficiency_fraction: float
    bus_efficiency_fraction: float
    attention_dp_imbalance_ratio: float
    pipeline_imbalance_ratio: float
    memory_overhead_gb: float
    sequence_limit: float
    speculative_step_ratio: float
    first_token_prefill_ratio: float
    first_token_step_ratio: float
    first_token_chunk_tokens: float
    first_token_queue_ratio: float
    fitted_prompt_tokens: float
    long_attention_mfu_ratio: float
    transfer_efficiency_fraction: float
    measured_band_low_ratio: float
    measured_band_high_ratio: float
    aiconfigurator_band_low_ratio: float
    aiconfigurator_band_high_ratio: float
    rate_band_deviations: float
    unmeasured_log_sd: float
    engine_tuning_low_ratio: float
    engine_tuning_high_ratio: float
    anchor_length_octaves: float
    anchor_load_octaves: float
    anchor_chips_octaves: float
    anchor_other_setup_ratio: float
    anchor_shared_fraction: float
    anchor_same_family_fraction: float
    anchor_other_family_fraction: float
    anchor_other_precision_fraction: float
    anchor_source_log: float
    anchor_noise_log: float
    anchor_drift_log: float
    anchor_first_token_ratio: float
    opaque_prefill_time_fraction: float
    power_static_fraction: float
    power_memory_fraction: float
    power_compute_fraction: float
    power_busy_fraction: float
    power_clock_exponent: float
    prefill_power_ratio: float
    decode_power_ratio: float
    chunk_budget_tokens: float
    router_uneven_fraction: float
    burst_window_s: float
    queue_ttft_band_low_ratio: float
    queue_ttft_band_high_ratio: float
    queue_tpot_band_low_ratio: float
    queue_tpot_band_high_ratio: float
    source_date: str

    @property
    def memory_overhead_bytes(self) -> float:
        """Return the memory per chip that is neither weights nor cache, bytes."""
        return self.memory_overhead_gb * BYTES_PER_GB

    @property
    def collective_latency_s(self) -> float:
        """Return the fixed time of one collective, seconds."""
        return self.collective_latency_us / US_PER_SECOND


def roofline_constants(table: pd.DataFrame) -> RooflineConstants:
    """Return the constants of the table; a missing name is an input fault, never a default."""
    values = dict(zip(table["constant"], table["value"], strict=True))
    names = [field.name for field in fields(RooflineConstants) if field.name != "source_date"]
    faults = [
        Fault("roofline_constants.csv", f"constant {name} is missing", column="constant", value=name)
        for name in names
        if name not in values
    ]
    if faults:
        raise InputError(faults)
    numbers = {name: float(values[name]) for name in names}
    return RooflineConstants(**numbers, source_date=str(table["source_date"].max()))
