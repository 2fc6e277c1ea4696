"""Closed form for full-batch Gaussian releases.

Any composition of Gaussian releases is one Gaussian release: the squares of the separations 1 / sigma add up
(Dong, Roth & Su, Corollary 3.3, arXiv:1905.02383v3), and the pair N(mu, 1), N(0, 1) has the profile
delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)
(Balle & Wang, Theorem 8, arXiv:1805.06530v2). Upper and lower bound differ by rounding alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr

from dpinfer.accounting.base import (
    Bound,
    Tally,
    check_delta,
    check_epsilon,
    refusal,
    require,
    trivial,
)
from dpinfer.accounting.events import Adjacency, Event, FullBarker, Gaussian, tally

NAME = "gaussian"
_DETAIL = "closed form of the Gaussian mechanism"
_ROUNDING = 4e-16


def supports(event: Event, adjacency: Adjacency) -> str | None:
    """Return None for compositions of full-batch Gaussian releases, else the reason of refusal."""
    return refusal(event, adjacency, (Gaussian, FullBarker), NAME)


def sensitivity(adjacency: Adjacency) -> float:
    """Return how many clips a clipped sum moves between adjacent data sets."""
    return 2.0 if adjacency == "replace-one" else 1.0


def separation(counts: Tally, adjacency: Adjacency) -> float:
    """Return mu of the Gaussian pair that equals the composition of all full-batch releases in a tally.

    The Barker test on all data releases a sum of terms within +-B plus N(0, C): a Gaussian release with
    noise multiplier sqrt(C) / B.
    """
    squares = 0.0
    for leaf, times in counts:
        if isinstance(leaf, Gaussian):
            squares += times * leaf.noise_multiplier**-2.0
        elif isinstance(leaf, FullBarker):
            squares += times * leaf.bound**2 / leaf.variance
    return sensitivity(adjacency) * math.sqrt(squares)


def log_profile(epsilon: NDArray[np.float64] | float, mu: float) -> NDArray[np.float64]:
    """Return log delta(epsilon) of the pair N(mu, 1), N(0, 1), for epsilon of either sign."""
    eps = np.asarray(epsilon, dtype=np.float64)
    first = log_ndtr(mu / 2.0 - eps / mu)
    gap = eps + log_ndtr(-mu / 2.0 - eps / mu) - first
    # The gap is negative; where rounding hides its size, the largest size it may have is the safe one.
    result: NDArray[np.float64] = first + np.log(-np.expm1(np.minimum(gap, -_ROUNDING * (1.0 - first))))
    return result


def _slack(delta: float, mu: float) -> float:
    """Return a generous bound on the rounding error of `log_profile` near a given delta.

    The error of the gap is a few units in the last place of log delta; the gap itself is about mu / (1 + z)
    at the z-th standard deviation.
    """
    size = 1.0 - math.log(delta)
    return 1e-12 + _ROUNDING * size * (1.0 + math.sqrt(2.0 * size)) * (1.0 + 1.0 / mu)


def delta_of(epsilon: float, mu: float) -> float:
    """Return delta(epsilon) of the pair N(mu, 1), N(0, 1)."""
    return 0.0 if mu == 0.0 else float(np.exp(log_profile(epsilon, mu)))


def epsilon_of(delta: float, mu: float) -> float:
    """Return the smallest epsilon >= 0 with delta(epsilon) <= delta for the pair N(mu, 1), N(0, 1)."""
    if mu == 0.0 or delta_of(0.0, mu) <= delta:
        return 0.0
    target = math.log(delta)
    # P(N(0, 1) > x) <= exp(-x^2 / 2) / 2 for x >= 0, so this end has a profile below delta.
    high = mu * (mu / 2.0 + math.sqrt(2.0 * max(math.log(0.5 / delta), 0.0)) + 1.0)
    root = brentq(lambda eps: float(log_profile(eps, mu)) - target, 0.0, high, xtol=1e-15 * high, rtol=1e-14)
    return float(root)


def bound_of(delta: float, mu: float) -> Bound:
    """Return the epsilon of the pair N(mu, 1), N(0, 1) between bounds that rounding cannot cross."""
    if mu == 0.0:
        return Bound(0.0, 0.0, NAME, _DETAIL)
    factor = math.exp(-min(_slack(delta, mu), 1.0))
    upper = epsilon_of(delta * factor, mu) * (1.0 + 1e-14)
    return Bound(upper, epsilon_of(min(delta / factor, 1.0), mu) * (1.0 - 1e-14), NAME, _DETAIL)


def epsilon(event: Event, delta: float, adjacency: Adjacency) -> Bound:
    """Return the exact epsilon of a composition of full-batch Gaussian releases."""
    require(supports(event, adjacency))
    delta = check_delta(delta)
    known = trivial(event, NAME)
    if known is not None:
        return known
    return bound_of(delta, separation(tally(event), adjacency))


def delta(event: Event, epsilon: float, adjacency: Adjacency) -> Bound:
    """Return the exact delta of a composition of full-batch Gaussian releases."""
    require(supports(event, adjacency))
    epsilon = check_epsilon(epsilon)
    known = trivial(event, NAME, infinite=1.0)
    if known is not None:
        return known
    mu = separation(tally(event), adjacency)
    value = delta_of(epsilon, mu)
    factor = math.exp(min(_slack(value, mu), 1.0)) if value > 0.0 else 1.0
    return Bound(min(1.0, value * factor), value / factor, NAME, _DETAIL)
