"""Amplification by subsets without replacement, for any Renyi curve.

Wang, Balle & Kasiviswanathan, Theorem 9, arXiv:1808.00087v2; also Corollary 2 of DP-MCMC (arXiv:1901.10275)
and Theorem 5 of PyVacy. If a step on the subset has divergence at most e(j) at order j, under replace-one
adjacency, then a step on the whole data has, with A(a) = (a-1) e'(a),
    exp A(a) = 1 + q^2 C(a,2) min(4 (exp(e(2)) - 1), 2 exp(e(2))) + 2 sum_{j=3}^a q^j C(a,j) exp((j-1) e(j)).

The theorem needs the sensitivity of replace-one, two clips. `clips=1` repeats what PyVacy's text compares
with Poisson sampling; it is not a guarantee.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpinfer.accounting.base import Bound, check_delta, check_epsilon, refusal, require, trivial
from dpinfer.accounting.events import Adjacency, Event, SubsetGaussian, tally
from dpinfer.accounting.sound import renyi

NAME = "wang"
Array = NDArray[np.float64]


def amplify(curve: Callable[[Array], Array], rate: float, most: int) -> Array:
    """Return the amplified divergences at the orders 2 .. most, evaluated in log space."""
    base = curve(np.arange(2.0, most + 1.0))
    log_rate = math.log(rate)
    pair = base[0] + min(math.log(4.0) + _log_one_minus_exp(base[0]), math.log(2.0))
    tail = math.log(2.0) + np.arange(1.0, most) * base + np.arange(2.0, most + 1.0) * log_rate
    result = np.empty(most - 1)
    for order in range(2, most + 1):
        binomial = renyi.log_binomial(order)
        terms = tail[: order - 1] + binomial[2:]
        terms[0] = 2.0 * log_rate + binomial[2] + pair
        result[order - 2] = np.logaddexp(0.0, logsumexp(terms)) / (order - 1.0)
    return result


def _gaussian(order: Array, mu: float) -> Array:
    return order * mu * mu / 2.0


def _log_one_minus_exp(value: float) -> float:
    return math.log(-math.expm1(-value)) if value > 0.0 else -math.inf


def supports(event: Event, adjacency: Adjacency) -> str | None:
    """Return None for subset-sampled Gaussian steps under replace-one adjacency."""
    if adjacency != "replace-one":
        return f"The {NAME} bound is for replace-one adjacency, not for {adjacency}."
    return refusal(event, adjacency, (SubsetGaussian,), NAME)


def epsilon(event: Event, delta: float, adjacency: Adjacency, clips: float = 2.0, max_order: int = 64) -> Bound:
    """Return epsilon = min over orders of T e'(a) + log(1/delta) / (a-1)."""
    require(supports(event, adjacency))
    delta = check_delta(delta)
    known = trivial(event, NAME)
    if known is not None:
        return known
    total = _totals(event, clips, max_order)
    orders = np.arange(2, max_order + 1)
    values = total + math.log(1.0 / delta) / (orders - 1.0)
    best = int(np.argmin(values))
    detail = f"order {orders[best]}, sensitivity of {clips:g} clips"
    return Bound(float(values[best]) if total.any() else 0.0, None, NAME, detail)


def delta(event: Event, epsilon: float, adjacency: Adjacency, clips: float = 2.0, max_order: int = 64) -> Bound:
    """Return delta = min over orders of exp((a-1) (T e'(a) - epsilon))."""
    require(supports(event, adjacency))
    epsilon = check_epsilon(epsilon)
    known = trivial(event, NAME, infinite=1.0)
    if known is not None:
        return known
    total = _totals(event, clips, max_order)
    orders = np.arange(2, max_order + 1)
    logs = (orders - 1.0) * (total - epsilon)
    best = int(np.argmin(logs))
    value = math.exp(min(float(logs[best]), 0.0)) if total.any() else 0.0
    return Bound(value, None, NAME, f"order {orders[best]}, sensitivity of {clips:g} clips")


def _totals(event: Event, clips: float, max_order: int) -> Array:
    """Return T e'(a) of a composition at the orders 2 .. max_order."""
    total = np.zeros(max_order - 1)
    for leaf, times in tally(event):
        assert isinstance(leaf, SubsetGaussian)
        curve = functools.partial(_gaussian, mu=clips / leaf.noise_multiplier)
        total += times * amplify(curve, leaf.sampling_rate, max_order)
    return total
