"""Renyi differential privacy: compose by adding divergences order by order, then convert.

Order grids: "grid" is the one of TensorFlow Privacy (72 orders), which PyVacy compares with; "ternary" is
PyVacy's search over real orders in [1, 512]; "wide" adds orders for very small and very large budgets. Every
single order gives a guarantee, so a poor search is loose, never wrong.

Conversions to (epsilon, delta): "classic" is Mironov, Proposition 3, arXiv:1702.07476v3; "improved" is
Canonne, Kamath & Steinke, Proposition 12, arXiv:2004.00010v4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpinfer.accounting.base import Bound, Tally, check_delta, check_epsilon, refusal, require, trivial
from dpinfer.accounting.events import (
    Adjacency,
    Barker,
    Event,
    FullBarker,
    Gaussian,
    Leaf,
    PoissonGaussian,
    SubsetGaussian,
    tally,
)
from dpinfer.accounting.sound import barker, gaussian, renyi
from dpinfer.errors import InputError

NAME = "rdp"
Orders = Literal["grid", "ternary", "wide"]
Conversion = Literal["classic", "improved"]
GRID: tuple[float, ...] = (
    *(1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0, 4.5),
    *(float(order) for order in range(5, 64)),
    *(128.0, 256.0, 512.0),
)
WIDE: tuple[float, ...] = tuple(
    sorted(
        {*GRID, 1.01, 1.03, 1.06, 1.1, 1.15, 1.35, 1.6}
        | {float(round(64 * 2 ** (k / 4))) for k in range(29)}
        | {float(4**k) for k in range(7, 31)}
    )
)
# The binomial sum of an order has that many terms: above this the step without sampling stands in.
_MOST_TERMS = 8192
_KINDS = (Gaussian, PoissonGaussian, SubsetGaussian, Barker, FullBarker)


def supports(event: Event, adjacency: Adjacency) -> str | None:
    """Return None for every composition of known mechanisms, else the reason of refusal."""
    return refusal(event, adjacency, _KINDS, NAME)


@lru_cache(maxsize=65536)
def divergence(leaf: Leaf, order: float, adjacency: Adjacency) -> float:
    """Return a bound on the Renyi divergence of one step, infinite where none is known."""
    if isinstance(leaf, Gaussian | FullBarker):
        return renyi.gaussian(order, gaussian.separation(((leaf, 1),), adjacency))
    if isinstance(leaf, Barker):
        return barker.divergence(leaf, order)
    assert isinstance(leaf, PoissonGaussian | SubsetGaussian)
    mu = 1.0 / leaf.noise_multiplier
    rate = leaf.sampling_rate
    if order > _MOST_TERMS:
        return renyi.gaussian(order, mu * (1.0 if _is_plain(leaf, adjacency) else 2.0))
    if isinstance(leaf, PoissonGaussian):
        pair = renyi.poisson if adjacency == "add-remove" else renyi.poisson_replace
        return pair(order, mu, rate)
    if adjacency == "add-remove":
        return renyi.poisson(order, 2.0 * mu, rate)
    return renyi.subset_replace(order, 2.0 * mu, rate)


def _is_plain(leaf: Leaf, adjacency: Adjacency) -> bool:
    return isinstance(leaf, PoissonGaussian) and adjacency == "add-remove"


def total(counts: Tally, order: float, adjacency: Adjacency) -> float:
    """Return the divergence of a composition at one order, infinite if it cannot be computed."""
    value = math.fsum(times * divergence(leaf, order, adjacency) for leaf, times in counts)
    return value if value >= 0.0 else math.inf


def to_epsilon(divergence: float, order: float, delta: float, conversion: Conversion) -> float:
    """Convert a divergence at one order to an epsilon at `delta`."""
    if conversion == "classic":
        return divergence + math.log(1.0 / delta) / (order - 1.0)
    return max(0.0, divergence + math.log1p(-1.0 / order) - math.log(delta * order) / (order - 1.0))


def _ternary(value: Callable[[float], float], low: float, high: float, rounds: int = 72) -> float:
    """Return the order at which a unimodal function is smallest: drop the third beside the larger value."""
    for _ in range(rounds):
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        if value(left) > value(right):
            low = left
        else:
            high = right
    return (low + high) / 2.0


def epsilon(
    event: Event,
    delta: float,
    adjacency: Adjacency,
    orders: Orders | tuple[float, ...] = "wide",
    conversion: Conversion = "improved",
) -> Bound:
    """Return the smallest converted epsilon over the orders asked for.

    Guarantee: an upper bound for the sampler and adjacency of each event, whatever the orders.
    """
    require(supports(event, adjacency))
    delta = check_delta(delta)
    known = trivial(event, NAME)
    if known is not None:
        return known
    counts = tally(event)

    def value(order: float) -> float:
        return to_epsilon(total(counts, order, adjacency), order, delta, conversion)

    candidates = (_ternary(value, 1.0, 512.0),) if orders == "ternary" else _order_tuple(orders)
    values = [value(order) for order in candidates]
    best = int(np.argmin(values))
    return Bound(values[best], None, NAME, f"order {candidates[best]:g}, {conversion} conversion")


def _order_tuple(orders: Orders | tuple[float, ...]) -> tuple[float, ...]:
    if isinstance(orders, str):
        if orders not in ("grid", "wide"):
            raise InputError(f"orders is {orders!r}, but must be grid, wide, ternary or a tuple of orders.")
        return GRID if orders == "grid" else WIDE
    if not orders or min(orders) <= 1.0:
        raise InputError(f"orders is {orders!r}, but every order must be above 1.")
    return tuple(float(order) for order in orders)


def delta(event: Event, epsilon: float, adjacency: Adjacency) -> Bound:
    """Return delta = min over orders of exp((a-1) (e(a) - epsilon)) (1 - 1/a)^(a-1) / a."""
    require(supports(event, adjacency))
    epsilon = check_epsilon(epsilon)
    known = trivial(event, NAME, infinite=1.0)
    if known is not None:
        return known
    counts = tally(event)
    logs: NDArray[np.float64] = np.array(
        [(a - 1.0) * (total(counts, a, adjacency) - epsilon + math.log1p(-1.0 / a)) - math.log(a) for a in WIDE]
    )
    best = int(np.argmin(logs))
    return Bound(min(1.0, math.exp(min(logs[best], 0.0))), None, NAME, f"order {WIDE[best]:g}")
