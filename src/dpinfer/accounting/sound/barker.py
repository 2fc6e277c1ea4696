"""Privacy of the noisy Barker test: the theorems of DP-MCMC (arXiv:1901.10275) and tighter bounds.

Setting. Let u_i, |u_i| <= 1, be the clipped log-likelihood ratio of record i times N0 / sqrt(b). A test on a
batch of b, drawn afresh and kept secret, reads the records only through one draw of N(sqrt(b) m, v), with m
the mean of the u_i and v = 2 - (mean of u_i^2 - m^2), so 1 + m^2 <= v <= 2 (for the divisor b, not b - 1).
V_cor, the prior, the proposal and the threshold come from public numbers and earlier answers: post-processing.
Replacing u_1 by u_1', with d = u_1 - u_1', moves the mean of the draw by |d| / sqrt(b) and v by
|t| = |d| |u_1 + u_1' - m - m'| / b. Since |u_1 + u_1'| <= 2 - |d| and |m' - m| <= 2/b,
  (i)   |t| <= |d| (2 - |d| + 2|m| + 2/b) / b, and |t| <= |d| (4 - |d|) / b <= 4 / b.
  (ii)  |t|/v <= (c + |m|)^2 / (b (1 + m^2)), c = 1 + 1/b: (i) maximised over |d|. This grows up to |m| = 1/c,
  where it is R = (1 + c^2) / b, and falls from there. The same holds with m' and v'.
Theorem 2 of the paper bounds the three terms of the Renyi divergence apart, with v = 1 in one and v = 2 in
the other, so its logarithm does not vanish for large b. The two bounds below are proved here.

Certified divergence, for a > 1, s = (a-1)/b with s c <= 1/2, 4 s^2 + 4 s/b < 1 and a R < 1.
For P = N(., v), Q = N(., v + t) the divergence is a d^2 / (2 b w) + g(t/v), w = v + a t > 0,
g(r) = (a log(1+r) - log(1+ar)) / (2 (a-1)).
  First term: w = (v + t) + (a-1) t, v + t >= 1 + m'^2 and (i) around m' give, minimised over m',
  w >= 1 - s|d| (2 - |d|) - s^2 d^2 - 2 s|d| / b. Then d^2 / w is 1 over a quadratic in 1/|d| that grows for
  1/|d| >= s c: |d| = 2 is worst, and the term is at most 2a / (b (1 - 4 s^2 - 4 s/b)).
  Second term: g'(r) = a r / (2 (1+r) (1+ar)), so g grows away from 0, faster to the left: g(r) <= g(-R) for
  |r| <= R, which (ii) grants.

Certified profile, at x >= 0 (not below) in both orders, H(x) = sup_E P(E) - e^x Q(E), with P = N(., v),
Q = N(0, v + t) and the mean of P to the right.
  (1) H grows with the distance of the means: its derivative is e^x times the difference of the density of Q
  at the two ends of the optimal E, whose centre lies on the side that makes it positive. So put the distance
  to mu = 2 / sqrt(b), whatever |d|.
  (2) t <= 0: the optimal E is the outside of an interval that contains the mean of Q, as x >= 0; so, for the
  same P, H grows while v + t shrinks. Scaled by sqrt(v), the pair is N(mu / sqrt(v), 1), N(0, 1 - |t|/v). For
  |m| in a cell [k, k'] the mean is at most mu / sqrt(1 + k^2), and |t|/v at most (ii) at k', or R where
  k' > 1/c; so the maximum over one pair per cell bounds all.
  (3) t > 0: the optimal E is empty or an interval (l, h) around mu (v + t) / t. It leaves out 0, so l >= 0:
  there p <= q, since log(1 + t/v) <= t/v <= mu^2 / v by (i). Widening it to (l, inf) and taking t = 0, a case
  of (2), raises H but for e^x Q(z > h). By Mills' ratio and e^x q(h) = p(h) that is at most p(h) (v + t) / h,
  where (v + t) / h <= t / mu <= 2 / sqrt(b) and (h - mu)^2 / (2v) >= mu^2 v / (2 t^2) >= 1 / (2R) >= (b-1)/4,
  by v/t >= 1/R and 1/t >= b/4. So `floor`, sqrt(2 / (pi b)) exp(-(b-1)/4), is added to the maximum.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dpinfer.accounting.base import Bound, check_delta, refusal, require, trivial
from dpinfer.accounting.events import Adjacency, Barker, Event, FullBarker, tally
from dpinfer.accounting.sound import wang
from dpinfer.errors import InputError

NAME = "barker"
Array = NDArray[np.float64]
Method = Literal["theorem", "certified"]
LEAST_BATCH = 5
_CELLS = 8
# Wang's bound stops gaining long before; the cost grows with the square.
_MOST_ORDERS = 512


def theorem_1(order: float, bound: float, variance: float) -> float:
    """Return 2 a B^2 / C: the divergence of one test on all records, replace-one."""
    return 2.0 * order * bound**2 / variance


def theorem_2(order: Array, batch: int) -> Array:
    """Return 5/(2b) + log(2b / (b-5a)) / (2(a-1)) + 2a / (b-5a), for a < b/5."""
    left = batch - 5.0 * order
    return 5.0 / (2.0 * batch) + np.log(2.0 * batch / left) / (2.0 * (order - 1.0)) + 2.0 * order / left


def certified(order: Array, batch: int) -> Array:
    """Return the certified divergence of one test on the batch itself (see the module), inf where it ends."""
    share = (order - 1.0) / batch
    room = 1.0 - 4.0 * share**2 - 4.0 * share / batch
    ratio = _largest_ratio(batch)
    valid = (share * (1.0 + 1.0 / batch) <= 0.5) & (room > 0.0) & (order * ratio < 1.0)
    safe = np.where(valid, order, 1.5)
    mean = 2.0 * order / (batch * np.where(valid, room, 1.0))
    spread = (safe * math.log1p(-ratio) - np.log1p(-safe * ratio)) / (2.0 * (safe - 1.0))
    return np.where(valid, mean + spread, np.inf)


def profile(x: Array, batch: int) -> Array:
    """Return the certified privacy profile of one test on the batch itself (see the module).

    It bounds both orders, for x >= 0 only; below, H(x) = 1 - e^x + e^x H(-x) for the pair in the other order.
    As a function of e^x it is convex and falls slowly enough at 0 for `profiles.subset_replace`.
    """
    ends = np.linspace(0.0, 1.0, _CELLS + 1)
    ratios = (1.0 + ends[1:] + 1.0 / batch) ** 2 / (batch * (1.0 + ends[1:] ** 2))
    ratios = np.where(ends[1:] > batch / (batch + 1.0), _largest_ratio(batch), ratios)
    means = 2.0 / np.sqrt(batch * (1.0 + ends[:-1] ** 2))
    value = np.zeros_like(x)
    for mean, ratio in zip(means, ratios, strict=True):
        value = np.maximum(value, _pair(x, float(mean), 1.0 - float(ratio)))
    return np.minimum(value + floor(batch), 1.0)


def floor(batch: int) -> float:
    """Return what `profile` does not fall below: the last step of (3) in the module."""
    return math.sqrt(2.0 / (math.pi * batch)) * math.exp(-(batch - 1.0) / 4.0)


def _largest_ratio(batch: int) -> float:
    """Return R = (1 + (1 + 1/b)^2) / b, the largest change of the variance relative to the variance."""
    return (1.0 + (1.0 + 1.0 / batch) ** 2) / batch


def _pair(x: Array, mean: float, variance: float) -> Array:
    """Return the profile of N(mean, 1) against N(0, variance), variance < 1, at x >= 0.

    The first density is e^x times the second at the two roots of a quadratic, and above it outside of them.
    """
    curve = (1.0 / variance - 1.0) / 2.0
    level = mean * mean / 2.0 - math.log(variance) / 2.0 + x
    root = np.sqrt(mean * mean + 4.0 * curve * level)
    right = 2.0 * level / (mean + root)
    left = -(mean + root) / (2.0 * curve)
    scale = math.sqrt(variance)
    return _excess(mean - right, -right / scale, x) + _excess(left - mean, left / scale, x)


def _excess(upper: Array, lower: Array, x: Array) -> Array:
    """Return Phi(upper) - e^x Phi(lower), which is not negative, accurate in the tails."""
    first = log_ndtr(upper)
    gap = np.minimum(x + log_ndtr(lower) - first, 0.0)
    result: Array = np.exp(first) * -np.expm1(gap)
    return result


def supports(event: Event, adjacency: Adjacency) -> str | None:
    """Return None for Barker tests under replace-one adjacency, else the reason of refusal."""
    if adjacency != "replace-one":
        return f"The {NAME} bounds are for replace-one adjacency, not for {adjacency}."
    return refusal(event, adjacency, (Barker, FullBarker), NAME)


@lru_cache(maxsize=1024)
def _amplified(batch: int, rate: float, method: Method, max_order: int) -> Array:
    """Return the divergences of one subsampled test at the orders 2 .. most."""
    if method == "certified":
        # A batch below 5 leaves no variance in the argument above.
        most = min(max_order, batch // 2 - 1)
        curve = certified
    else:
        most = min(max_order, batch // 5) - 1
        curve = theorem_2
    if batch < LEAST_BATCH or most < 2:
        return np.empty(0)
    return wang.amplify(lambda order: curve(order, batch), rate, most)


def divergence(leaf: Barker, order: float) -> float:
    """Return the certified divergence of one subsampled test.

    It grows with the order, so a fractional order is rounded up.
    """
    values = _amplified(leaf.batch, leaf.sampling_rate, "certified", _MOST_ORDERS)
    index = math.ceil(order) - 2
    return float(values[max(index, 0)]) if max(index, 0) < len(values) else math.inf


def epsilon(
    event: Event,
    delta: float,
    adjacency: Adjacency,
    method: Method = "theorem",
    max_order: int = 100,
) -> Bound:
    """Return epsilon of a chain: Corollary 1 (all records), Corollary 2 (batches), or certified.

    The orders are 3 .. min(max_order, b // 5) - 1 for the theorem, as in the paper's code, and 2 ..
    min(max_order, b // 2 - 1) for the certified divergence; the conversion is T e(a) + log(1/delta) / (a-1).
    """
    require(supports(event, adjacency))
    delta = check_delta(delta)
    known = trivial(event, NAME)
    if known is not None:
        return known
    if method not in ("theorem", "certified"):
        raise InputError(f"method is {method!r}, but must be theorem or certified.")
    orders = np.arange(2.0, max_order + 1.0)
    total = np.zeros_like(orders)
    for leaf, times in tally(event):
        if isinstance(leaf, FullBarker):
            total += times * theorem_1(1.0, leaf.bound, leaf.variance) * orders
        elif isinstance(leaf, Barker):
            values = _amplified(leaf.batch, leaf.sampling_rate, method, max_order)
            step = np.full_like(orders, np.inf)
            step[: len(values)] = values
            if method == "theorem":
                step[0] = np.inf
            total += times * step
    values = total + math.log(1.0 / delta) / (orders - 1.0)
    best = int(np.argmin(values))
    if not math.isfinite(values[best]):
        raise InputError(f"No order of the {method} bound fits the batch: {tally(event)[0][0]} is too small.")
    return Bound(float(values[best]), None, NAME, f"{method}, order {orders[best]:g}")
