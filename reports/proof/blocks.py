"""What is proved of a block."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Proved:
    """What a block's row on the sheet Checks states.

    Attributes
    ----------
    what, scope
        Block, and how many of its cells are compared with what.
    differ
        Range of the counts of cells that differ.
    computed, pasted
        Numbers and dates compared with a formula over the plan's tables, and with a value of the plan.
    """

    what: str
    scope: str
    differ: str
    computed: int
    pasted: int
