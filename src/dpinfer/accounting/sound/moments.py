"""Moments accountant with whole orders up to a cap (Abadi et al., Theorem 2, arXiv:1607.00133v2).

epsilon = min over lambda = 1 .. max_lambda of (T alpha(lambda) - log delta) / lambda, where alpha(lambda) is
lambda times the Renyi divergence at order lambda + 1. The cap makes log(1/delta) / max_lambda a floor under
every epsilon. DPVI caps at 99, 159, 199 and DP-MCMC's start at 64, both with the binomial sum alone; DP-PVI
caps at 32 and takes the larger of the two orders of the pair. Valid for Poisson sampling and add-remove
adjacency.
"""

from __future__ import annotations

import math
from typing import Literal

from dpinfer.accounting.base import Bound, check_delta, check_epsilon, refusal, require, trivial
from dpinfer.accounting.events import Adjacency, Event, Gaussian, PoissonGaussian, tally
from dpinfer.accounting.sound import renyi
from dpinfer.errors import InputError

NAME = "moments"
Direction = Literal["add", "both"]


def supports(event: Event, adjacency: Adjacency) -> str | None:
    """Return None for Gaussian releases, full or Poisson-sampled, under add-remove adjacency."""
    if adjacency != "add-remove":
        return f"The {NAME} accountant is for add-remove adjacency, not for {adjacency}."
    return refusal(event, adjacency, (Gaussian, PoissonGaussian), NAME)


def log_moment(order: int, noise_multiplier: float, sampling_rate: float, direction: Direction) -> float:
    """Return alpha(lambda) of one step."""
    mu = 1.0 / noise_multiplier
    value = renyi.poisson(order + 1, mu, sampling_rate)
    if direction == "both":
        value = max(value, renyi.poisson_reverse(order + 1, mu, sampling_rate))
    return order * value


def epsilon(
    event: Event, delta: float, adjacency: Adjacency, max_lambda: int = 32, direction: Direction = "add"
) -> Bound:
    """Return the smallest epsilon over the capped orders."""
    require(supports(event, adjacency))
    delta = check_delta(delta)
    _check_options(max_lambda, direction)
    known = trivial(event, NAME)
    if known is not None:
        return known
    moments = _totals(event, max_lambda, direction)
    values = [(moment - math.log(delta)) / order for order, moment in enumerate(moments, start=1)]
    best = min(range(max_lambda), key=values.__getitem__)
    return Bound(values[best], None, NAME, f"lambda {best + 1} of at most {max_lambda}, {direction}")


def delta(
    event: Event, epsilon: float, adjacency: Adjacency, max_lambda: int = 32, direction: Direction = "add"
) -> Bound:
    """Return delta = min over lambda of exp(T alpha(lambda) - lambda epsilon), the tail bound."""
    require(supports(event, adjacency))
    epsilon = check_epsilon(epsilon)
    _check_options(max_lambda, direction)
    known = trivial(event, NAME, infinite=1.0)
    if known is not None:
        return known
    moments = _totals(event, max_lambda, direction)
    logs = [moment - order * epsilon for order, moment in enumerate(moments, start=1)]
    best = min(range(max_lambda), key=logs.__getitem__)
    value = math.exp(min(logs[best], 0.0))
    return Bound(value, None, NAME, f"lambda {best + 1} of at most {max_lambda}, {direction}")


def _totals(event: Event, max_lambda: int, direction: Direction) -> list[float]:
    """Return T alpha(lambda) of a composition for lambda = 1 .. max_lambda."""
    totals = []
    for order in range(1, max_lambda + 1):
        total = 0.0
        for leaf, times in tally(event):
            rate = leaf.sampling_rate if isinstance(leaf, PoissonGaussian) else 1.0
            assert isinstance(leaf, PoissonGaussian | Gaussian)
            total += times * log_moment(order, leaf.noise_multiplier, rate, direction)
        totals.append(total)
    return totals


def _check_options(max_lambda: int, direction: str) -> None:
    if max_lambda < 1 or direction not in ("add", "both"):
        raise InputError(f"max_lambda is {max_lambda!r} and direction {direction!r}: use >= 1 and add or both.")
