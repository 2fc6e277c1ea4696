"""Privacy profiles of single steps: delta as a function of epsilon, vectorised and accurate in the tails.

The profile of a pair of distributions is x -> H(x) = sup over events E of P(E) - e^x Q(E), for every real x.
A function that lies above the profiles of all pairs of outputs on adjacent data sets, in both orders, bounds
the privacy of the step and of any composition of it (Zhu, Dong & Wang, arXiv:2106.08567).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpinfer.accounting.sound.gaussian import log_profile
from dpinfer.binomial import more_than, upper_quantile

Array = NDArray[np.float64]
Profile = Callable[[Array], Array]
_LEAST_MASS = 1e-25


class Step(NamedTuple):
    """Profiles of one step.

    Attributes:
        remove: Bounds the order (data, neighbour).
        add: Bounds the order (neighbour, data); the same object where one function bounds both.
        spread: Rough root mean square of the loss: a scale for grids, nothing that soundness rests on.
        floor: What the profiles do not fall below: the probability that all may be revealed.
    """

    remove: Profile
    add: Profile
    spread: float
    floor: float = 0.0


def gaussian(mu: float) -> Step:
    """Return the profile of N(mu, 1) against N(0, 1), which is its own mirror image."""

    def profile(x: Array) -> Array:
        return np.exp(log_profile(x, mu))

    return Step(profile, profile, mu * math.sqrt(1.0 + mu * mu / 4.0))


def inner(x: Array, rate: float) -> Array:
    """Return log(1 + (e^x - 1) / rate), and -inf where the argument is not positive."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        small = np.log1p(np.maximum(np.expm1(x) / rate, -1.0))
        # For large x the argument overflows long before its logarithm does.
        large = x - math.log(rate) + np.log1p((rate - 1.0) * np.exp(-x))
    return np.where(x > 30.0, large, small)


def poisson(mu: float, rate: float) -> Step:
    """Return the exact profiles of (1-q) N(0,1) + q N(mu,1) against N(0,1), in both orders.

    With G the Gaussian profile and e^y = 1 + (e^x - 1) / q, the first order is q G(y); in the second, with
    e^y = 1 + (e^-x - 1) / q, it is q e^(x+y) G(-y). Outside the range of the loss H(x) = max(0, 1 - e^x).
    """

    def remove(x: Array) -> Array:
        y = inner(x, rate)
        inside = np.isfinite(y)
        outside = -np.expm1(np.minimum(x, 0.0))
        return np.where(inside, rate * np.exp(log_profile(np.where(inside, y, 0.0), mu)), outside)

    def add(x: Array) -> Array:
        y = inner(-x, rate)
        inside = np.isfinite(y)
        y = np.where(inside, y, 0.0)
        return np.where(inside, rate * np.exp(np.where(inside, x, 0.0) + y + log_profile(-y, mu)), 0.0)

    return Step(remove, add, _spread(mu, rate))


def poisson_replace(mu: float, rate: float) -> Step:
    """Return the exact profile of (1-q) N(0,1) + q N(mu,1) against (1-q) N(0,1) + q N(-mu,1).

    The loss grows with the output z; with w = e^(mu z) it is x where
    c w^2 - (1-q) (e^x - 1) w - c e^x = 0, c = q e^(-mu^2/2).
    """

    def profile(x: Array) -> Array:
        z = replace_output(x, mu, rate)
        rest = (1.0 - rate) * -np.expm1(x) * ndtr(-z)
        value = rest + rate * (ndtr(mu - z) - np.exp(x) * ndtr(-mu - z))
        clipped: Array = np.clip(value, 0.0, 1.0)
        return clipped

    return Step(profile, profile, _spread(mu, rate))


def replace_output(x: Array, mu: float, rate: float) -> Array:
    """Return the output z at which the pair of `poisson_replace` has loss x."""
    # With w e^(-x/2) = r the equation for w reads r - 1/r = 2 s.
    s = (1.0 - rate) / rate * np.sinh(np.clip(x, -600.0, 600.0) / 2.0) * math.exp(min(mu * mu / 2.0, 700.0))
    result: Array = (np.arcsinh(s) + x / 2.0) / mu
    return result


def subset_replace(base: Profile, mu: float, rate: float, floor: float = 0.0) -> Step:
    """Bound a step on a subset drawn without replacement, under replace-one adjacency.

    If `base` bounds both orders of the step on any two subsets that differ in one record, then H(x) <= q base(y)
    for x >= 0, with e^y = 1 + (e^x - 1) / q (Balle, Barthe & Gaboardi, arXiv:1807.01647): a subset
    without the record pairs with one that holds it in place of another. What holds for both orders at -x gives
    H(x) = 1 - e^x + e^x H(-x) for x < 0. So `base` is never asked below 0. `floor` is its limit for large x.

    The result is a profile itself, that is convex in e^x, if `base` is and its slope in e^x at x = 0 is at
    least (q base(0) - 1) / 2: the two branches then meet in a convex corner.
    """

    def profile(x: Array) -> Array:
        size = np.abs(x)
        amplified = rate * base(inner(size, rate))
        return np.where(x >= 0.0, amplified, -np.expm1(-size) + np.exp(-size) * amplified)

    return Step(profile, profile, _spread(mu, rate), rate * floor)


def replacement(mu: float, batch: int, records: int) -> Step:
    """Bound a Gaussian step on `batch` draws with replacement, under replace-one adjacency.

    The changed record is drawn k times with probability p_k, Binomial(batch, 1 / records), and then moves the
    mean by at most k `mu`. With q = 1 - p_0 and e^y = 1 + (e^x - 1) / q, H(x) <= sum over k >= 1 of p_k G_k(y),
    G_k being the profile of N(k mu, 1) against N(0, 1) (Balle, Barthe & Gaboardi, arXiv:1807.01647, Theorem 10).
    Larger k than any run will see are taken to reveal all.
    """
    most = upper_quantile(_LEAST_MASS, batch, 1.0 / records)
    above = more_than(np.arange(most + 1), batch, 1.0 / records)
    rate, revealed = float(above[0]), float(above[-1] / above[0])
    weights = -np.diff(above) / rate

    def base(y: Array) -> Array:
        each = [weight * np.exp(log_profile(y, k * mu)) for k, weight in enumerate(weights, start=1)]
        total: Array = sum(each, start=np.full_like(y, revealed))
        return total

    return subset_replace(base, mu, rate, revealed)


def _spread(mu: float, rate: float) -> float:
    """Return the root mean square loss of the Poisson pair, by a coarse quadrature."""
    z = np.linspace(-9.0, 9.0 + mu, 2001)
    weight = (1.0 - rate) * np.exp(-(z**2) / 2.0) + rate * np.exp(-((z - mu) ** 2) / 2.0)
    exponent = mu * z - mu * mu / 2.0
    loss = np.logaddexp(math.log1p(-rate) if rate < 1.0 else -np.inf, math.log(rate) + exponent)
    return float(np.sqrt(np.sum(weight * loss**2) / np.sum(weight)))
