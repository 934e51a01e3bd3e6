"""Wall time of a solve of several steps."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Clock:
    """Seconds since it was made, and seconds left of a limit (None without one)."""

    limit_s: float | None = None
    began: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """Return seconds since the start."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float | None:
        """Return seconds left, possibly negative; None without a limit."""
        return None if self.limit_s is None else self.limit_s - self.elapsed
