"""Tails of the binomial law, to full relative precision, as regularised incomplete beta functions.

`scipy.stats.binom` has them too, but its lower tail is less precise far out, its quantiles take minutes and
gigabytes at a hundred million trials, and importing it takes longer than many a fit.
"""

import bisect

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc

Array = NDArray[np.float64]


def at_most(k: ArrayLike, trials: int, rate: float) -> Array:
    """P(count <= k) for 0 <= k <= trials."""
    k = np.asarray(k, np.float64)
    return np.where(k < trials, betaincc(k + 1.0, np.maximum(trials - k, 1.0), rate), 1.0)


def more_than(k: ArrayLike, trials: int, rate: float) -> Array:
    """P(count > k) for 0 <= k <= trials."""
    k = np.asarray(k, np.float64)
    return np.where(k < trials, betainc(k + 1.0, np.maximum(trials - k, 1.0), rate), 0.0)


def upper_quantile(tail: float, trials: int, rate: float) -> int:
    """The least k with P(count > k) <= tail."""
    return bisect.bisect_left(range(trials), True, key=lambda k: bool(more_than(k, trials, rate) <= tail))


def lower_quantile(tail: float, trials: int, rate: float) -> int:
    """The least k with P(count <= k) >= tail."""
    return bisect.bisect_left(range(trials), True, key=lambda k: bool(at_most(k, trials, rate) >= tail))
