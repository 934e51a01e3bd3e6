"""Speculative decoding: several tokens a step, for the work of checking them all.

A draft proposes k tokens, one pass each; the model checks them and its own next token in one step. With each token
accepted with probability a while all before it were, a step yields

    tokens per step = 1 + a + a^2 + ... + a^k = (1 - a^(k+1)) / (1 - a)

(Leviathan, Kalman, Matias: Fast Inference from Transformers via Speculative Decoding, arXiv 2211.17192). Checking reads
weights and cache once but multiplies products, expert reads and attention by k + 1, so that the gain shrinks as the
batch fills the arithmetic units and turns into a loss beyond.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.performance.deployment import Array, Deployments
from planner.performance.roofline import decode_step_s, host_s
from planner.performance.roofline_constants import RooflineConstants


@dataclass(frozen=True)
class Draft:
    """What proposes tokens, each (n, 1).

    Attributes
    ----------
    tokens
        Tokens proposed per step; 0 = plain decoding.
    acceptance
        Share of proposed tokens accepted while all before them were.
    cost
        Device time of one draft pass over that of a plain step of the model at the same batch.
    layers
        Layers of the draft, each of which the host launches.
    memory
        Weights of the draft over those of the model.
    """

    tokens: Array
    acceptance: Array
    cost: Array
    layers: Array
    memory: Array

    @property
    def tokens_per_step(self) -> Array:
        """Return expected tokens a step yields: all k + 1 at acceptance 1."""
        below = np.minimum(self.acceptance, 1.0 - 1e-9)
        return (1.0 - np.power(below, self.tokens + 1.0)) / (1.0 - below)


def draft(rows: pd.DataFrame) -> Draft:
    """Return the arrays of rows of ``options.with_options``.

    What an option leaves blank is that of the model's own layers for multi-token prediction: their number, a pass of
    them as its share of the layers of a step, their weights over the model's.
    """

    def column(name: str, own: pd.Series | float = 0.0) -> Array:
        stated = rows[name].astype(float)
        return stated.fillna(own).fillna(0.0).to_numpy(float)[:, None]

    layers = rows["mtp_layers"].astype(float)
    return Draft(
        column("draft_tokens"),
        column("acceptance_fraction"),
        column("draft_cost_fraction", layers / rows["layers"].astype(float)),
        column("draft_layers", layers),
        column("draft_memory_fraction", rows["parameters_mtp_b"] / rows["parameters_total_b"]),
    )


def with_draft(deployment: Deployments, proposed: Draft) -> Deployments:
    """Return the deployment that keeps the draft's weights beside its own."""
    return replace(deployment, total=deployment.total * (1.0 + proposed.memory))


def speculative_step_s(
    deployment: Deployments, batch: Array, context: Array, proposed: Draft, constants: RooflineConstants
) -> Array:
    """Return seconds of one step: the check of all proposed tokens, and one draft pass for each.

    ``check(k + 1) + k * (cost * (step - host) + draft layers * launch + launch of a pass)``
    """
    check = decode_step_s(deployment, batch, context, constants, proposed.tokens + 1.0)
    host = host_s(deployment, batch, constants) / deployment.tuning
    device = decode_step_s(deployment, batch, context, constants) - host
    launch = (proposed.layers * deployment.layer_s + deployment.step_s) / deployment.tuning
    return check + proposed.tokens * (proposed.cost * device + launch)
