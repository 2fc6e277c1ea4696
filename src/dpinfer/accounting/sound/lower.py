"""Lower bounds on epsilon: what no accountant can undercut.

For one pair of outputs on adjacent data sets that can really occur, the loss of each step is rounded to the
nearest point of a grid. The errors of T independent steps are independent, lie in an interval as long as the
grid's, and their mean is known, so by Hoeffding their sum exceeds it by h sqrt(T log(1/eta) / 2) with
probability at most eta. Moving the composed loss down by that, and charging eta and all cut tails to delta,
gives a valid lower bound (Gopi, Lee & Wutschitz, arXiv:2106.02848, use the same coupling for
their interval).

Pairs: the exact pair of the full-batch and Poisson samplers; for subsets, under both relations, the Poisson
pair with two clips, reached when all other records sit at the opposite clip. For the Barker test none is
given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from dp_accounting.pld import pld_pmf
from numpy.typing import NDArray
from scipy.special import ndtr

from dpinfer.accounting.base import Tally
from dpinfer.accounting.events import Adjacency, FullBarker, Gaussian, PoissonGaussian, SubsetGaussian
from dpinfer.accounting.sound import gaussian, profiles, renyi
from dpinfer.accounting.sound.composition import MOST_POINTS, chain, power, rounding

Array = NDArray[np.float64]
_ETA_SHARE = 1e-3
_FINE = 300.0


class _Pair(NamedTuple):
    """A pair whose loss grows with the output z; the first distribution mixes N(0, 1) and N(mean, 1)."""

    mean: float
    rate: float
    loss: Callable[[Array], Array]
    inverse: Callable[[Array], Array]

    def mass_below(self, z: Array) -> Array:
        result: Array = (1.0 - self.rate) * ndtr(z) + self.rate * ndtr(z - self.mean)
        return result


def _poisson(mu: float, rate: float) -> _Pair:
    def loss(z: Array) -> Array:
        return renyi.log_mixture(mu * z - mu * mu / 2.0, rate)

    def inverse(x: Array) -> Array:
        return (profiles.inner(x, rate) + mu * mu / 2.0) / mu

    return _Pair(mu, rate, loss, inverse)


def _poisson_replace(mu: float, rate: float) -> _Pair:
    def loss(z: Array) -> Array:
        above = renyi.log_mixture(mu * z - mu * mu / 2.0, rate)
        return above - renyi.log_mixture(-mu * z - mu * mu / 2.0, rate)

    def inverse(x: Array) -> Array:
        return profiles.replace_output(x, mu, rate)

    return _Pair(mu, rate, loss, inverse)


def _pairs(counts: Tally, adjacency: Adjacency) -> list[tuple[_Pair, int]] | None:
    result = []
    mu = gaussian.separation(counts, adjacency)
    if mu > 0.0:
        result.append((_poisson(mu, 1.0), 1))
    for leaf, times in counts:
        if isinstance(leaf, PoissonGaussian) and adjacency == "replace-one" and leaf.sampling_rate < 1.0:
            result.append((_poisson_replace(1.0 / leaf.noise_multiplier, leaf.sampling_rate), times))
        elif isinstance(leaf, PoissonGaussian):
            clips = gaussian.sensitivity(adjacency)
            result.append((_poisson(clips / leaf.noise_multiplier, leaf.sampling_rate), times))
        elif isinstance(leaf, SubsetGaussian):
            result.append((_poisson(2.0 / leaf.noise_multiplier, leaf.sampling_rate), times))
        elif not isinstance(leaf, Gaussian | FullBarker):
            return None
    return result


def _mean_square(pair: _Pair) -> float:
    z = np.linspace(-9.0, 9.0 + pair.mean, 4001)
    weight = (1.0 - pair.rate) * np.exp(-(z**2) / 2.0) + pair.rate * np.exp(-((z - pair.mean) ** 2) / 2.0)
    return float(np.sum(weight * pair.loss(z) ** 2) / np.sum(weight))


def _round(pair: _Pair, reach: float, interval: float) -> tuple[pld_pmf.PLDPmf, float]:
    """Return the rounded loss of one step within `reach` outputs, and how far its mean is too small."""
    low, high = -reach, pair.mean + reach
    ends = pair.loss(np.array([low, high]))
    first, last = round(float(ends[0]) / interval), round(float(ends[1]) / interval)
    edges = (np.arange(first, last, dtype=np.float64) + 0.5) * interval
    below = np.concatenate([[0.0], pair.mass_below(pair.inverse(edges)), [1.0]])
    probabilities = np.maximum(np.diff(below), 0.0)
    # Sums of a smooth function against a Gaussian: the trapezoid rule is exact to rounding.
    z = np.linspace(low, high, max(4001, int(40.0 * (high - low) * (1.0 + pair.mean))))
    weight = (1.0 - pair.rate) * np.exp(-(z**2) / 2.0) + pair.rate * np.exp(-((z - pair.mean) ** 2) / 2.0)
    true_mean = float(np.sum(weight * pair.loss(z)) / np.sum(weight))
    points = range(first, last + 1)
    mean = float(np.sum(np.arange(first, last + 1) * probabilities)) * interval
    pmf = pld_pmf.create_pmf(dict(zip(points, probabilities, strict=True)), interval, 0.0, False)
    return pmf, true_mean - mean


def epsilon(counts: Tally, delta: float, adjacency: Adjacency) -> float | None:
    """Return an epsilon below which the mechanism does not satisfy `delta`, or None where none is known."""
    pairs = _pairs(counts, adjacency)
    if pairs is None or any(pair.mean > 30.0 for pair, _ in pairs):
        return None
    count = sum(times for _, times in pairs)
    square = sum(times * _mean_square(pair) for pair, times in pairs)
    eta = delta * _ETA_SHARE
    # P(|N(0, 1)| > reach) stays below eta / count.
    reach = math.sqrt(2.0 * math.log(2.0 * count / eta))
    width = max(18.0 * math.sqrt(square), *(_width(pair, reach) for pair, _ in pairs), 0.0)
    interval = max(math.sqrt(square / count) / _FINE, width / MOST_POINTS)
    parts, shift = [], 0.0
    for pair, times in pairs:
        single, gap = _round(pair, reach, interval)
        parts.append(power(single, times, eta))
        shift += times * gap
    if not parts:
        return 0.0
    total = chain(parts, eta)
    shift -= interval * math.sqrt(count * math.log(1.0 / eta) / 2.0) + 1e-9 * math.sqrt(square)
    lost = (3.0 + 3.0 * len(pairs)) * eta + rounding(total)

    def holds(value: float) -> bool:
        return float(total.get_delta_for_epsilon(value - shift)) - lost >= delta

    return _last(holds, 4.0 * math.sqrt(square) + square)


def _width(pair: _Pair, reach: float) -> float:
    ends = pair.loss(np.array([-reach, pair.mean + reach]))
    return float(ends[1] - ends[0])


def _last(holds: Callable[[float], bool], scale: float) -> float:
    """Return the largest value, within 1e-4 of it, at which a condition that ends somewhere still holds."""
    if not holds(0.0):
        return 0.0
    low, high = 0.0, scale
    while holds(high):
        low, high = high, 2.0 * high
    while high - low > 1e-4 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
