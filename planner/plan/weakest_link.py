"""A chain of limits and shares: what comes out, which limit binds, and what loosening each link is worth.

    v[0] = c[0],   v[k] = min(v[k-1] * s[k], c[k])

c[k]  what link k lets through at most, in units of output; infinite where it sets no limit of its own
s[k]  share of what reaches link k that goes on, at most 1; 1 where it takes none

The limits do not multiply: a faster link brings no more than the next one lets through. A share takes its part of
whatever reaches it. Loosening link k by x scales its limit by 1 + x and its share by 1 + x, never beyond 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray

TIE = 1e-6
"""Relative difference below which two limits let through the same: a solver meets limits no closer."""
FREED = 1e12
"""By what a limit is scaled that is taken out of the way."""
ONE_PER_CENT = 0.01


@dataclass(frozen=True)
class WeakestLink:
    """Chains of the same links, a row each.

    Attributes
    ----------
    limits
        Most output of each link, (n, k); infinite = none. The first link has one.
    shares
        Part of what reaches it that a link lets on, (n, k), 0 to 1.

    Examples
    --------
    An engine lets 100 through and the cluster 115: 40 % more of the engine give 15 % more, what the cluster then
    lets on gives the rest.

    >>> chain = WeakestLink(np.array([[100.0, 115.0]]), np.ones((1, 2)))
    >>> chain.loosened(0, 0.4).item(), chain.binding.item(), chain.most_per_cent[0, 0].round(9).item()
    (115.0, 0, 15.0)
    >>> WeakestLink(np.array([[140.0, 115.0]]), np.ones((1, 2))).loosened(1, 140 / 115 - 1).item()
    140.0
    """

    limits: Array
    shares: Array

    def __post_init__(self) -> None:
        """Check what the arithmetic relies on.

        Raises
        ------
        ValueError
            A limit is negative, a share outside 0 to 1, or either is missing.
        """
        if (
            self.limits.shape != self.shares.shape
            or np.isnan(self.limits).any()
            or np.isnan(self.shares).any()
        ):
            raise ValueError("every link of a chain needs a limit and a share")
        if (self.limits < 0).any() or (self.shares < 0).any() or (self.shares > 1).any():
            raise ValueError("limits of a chain are at least 0, shares 0 to 1")

    @cached_property
    def values(self) -> Array:
        """Return what is left after each link, (n, k); infinite before the first limit."""
        return running(self.limits, self.shares)

    @property
    def output(self) -> Array:
        """Return what comes out, (n,)."""
        return np.asarray(self.values[:, -1])

    @cached_property
    def binding(self) -> Array:
        """Return the link whose limit is the output's, (n,): the last one that lets through no more than reaches it."""
        return last_binding(self.limits, self.shares)

    def loosened(self, link: int, by: float) -> Array:
        """Return the output with one link loosened by a fraction, (n,)."""
        return np.asarray(running(*self._scaled(link, by))[:, -1])

    @cached_property
    def worth(self) -> Array:
        """Return what one per cent more of each link adds to the output, (n, k)."""
        return self._gains(ONE_PER_CENT)

    @cached_property
    def most(self) -> Array:
        """Return what each link can add until another binds or its share is whole, (n, k)."""
        return self._gains(FREED)

    @property
    def most_per_cent(self) -> Array:
        """Return by how many per cent a link is loosened until then, (n, k); 0 where it adds nothing."""
        out = self.output[:, None]
        return np.divide(100.0 * self.most, out, out=np.zeros_like(self.most), where=out > 0)

    @cached_property
    def next_binding(self) -> Array:
        """Return the link whose limit binds once a link is out of the way, (n, k).

        -1 where nothing follows: the link does not bind. Of two that let through the same the later one binds, adds
        nothing when loosened alone, and the earlier one is next.
        """
        found = [last_binding(*self._scaled(link, FREED)) for link in range(self.limits.shape[1])]
        binds = np.arange(self.limits.shape[1]) == self.binding[:, None]
        following = np.stack(found, axis=1)
        return np.where((self.most > 0) | (binds & (following != self.binding[:, None])), following, -1)

    def _gains(self, by: float) -> Array:
        out = self.output
        gains = np.stack([self.loosened(link, by) - out for link in range(self.limits.shape[1])], axis=1)
        # A gain within the rounding of the output is none.
        return np.where(gains > TIE * out[:, None], gains, 0.0)

    def _scaled(self, link: int, by: float) -> tuple[Array, Array]:
        limits, shares = self.limits.copy(), self.shares.copy()
        limits[:, link] *= 1.0 + by
        shares[:, link] = np.minimum(shares[:, link] * (1.0 + by), np.where(shares[:, link] > 0, 1.0, 0.0))
        return limits, shares


def running(limits: Array, shares: Array) -> Array:
    """Return what is left after each link, (n, k)."""
    values, left = [], np.full(len(limits), np.inf)
    for limit, share in zip(limits.T, shares.T, strict=True):
        # Nothing of anything is nothing, of an unlimited amount too.
        left = np.minimum(np.where(share > 0, left * share, 0.0), limit)
        values.append(left)
    return np.stack(values, axis=1)


def last_binding(limits: Array, shares: Array) -> Array:
    """Return the last link of each chain that lets through no more than reaches it, (n,)."""
    before = np.full(len(limits), np.inf)
    found = np.zeros(len(limits), dtype=int)
    for at, (limit, share) in enumerate(zip(limits.T, shares.T, strict=True)):
        reaching = np.where(share > 0, before * share, 0.0)
        found = np.where(np.isfinite(limit) & (limit <= reaching * (1.0 + TIE)), at, found)
        before = np.minimum(reaching, limit)
    return found
