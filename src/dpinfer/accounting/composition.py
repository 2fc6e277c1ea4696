"""Composition of privacy profiles on a grid: discretise, convolve, read off.

dp-accounting does the work: connecting the dots gives a discrete loss distribution that dominates the
profile (Doroshenko et al., Algorithm 1, arXiv:2207.04380), and FFTs compose it. Here the ranges and the grid
are chosen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from dp_accounting.pld import pld_pmf
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

from dpinfer.accounting.profiles import Profile, Step

Parts = list[tuple[Step, int]]
# Rounding of the FFTs, as measured against the closed form up to 1e7 steps, leaves deltas of this size
# uncertain.
ROUNDING = 1e-13
MOST_POINTS = 1 << 20
_REFINED_POINTS = 1 << 17
# Share of delta that may be lost to cutting off the tails of the loss.
_TAIL_SHARE = 1e-4
_ONE_ROUND = 2000


class Plan:
    """The part of an evaluation that needs no grid: the steps, their ranges and scales."""

    def __init__(self, parts: Parts, delta: float) -> None:
        self.parts = parts
        self.count = sum(times for _, times in parts)
        self.tail = delta * _TAIL_SHARE
        self.ranges = [self._range(step) for step, _ in parts]
        self.spread = math.sqrt(sum(times * step.spread**2 for step, times in parts))
        self.width = max(max(sum(reach) for reach in self.ranges), 18.0 * self.spread)

    def _range(self, step: Step) -> tuple[float, float]:
        remove = _reach(step.remove, self.tail / self.count, step.spread)
        if step.add is step.remove:
            return remove, remove
        return remove, _reach(step.add, self.tail / self.count, step.spread)

    def intervals(self) -> Iterator[float]:
        """Yield ever finer grids, as time allows; the error falls with the square of the interval."""
        interval = max(self.spread / math.sqrt(self.count) / 12.0, self.width / MOST_POINTS)
        yield interval
        while self.width / interval < _REFINED_POINTS:
            interval /= 3.0
            yield interval

    def compose(self, interval: float) -> PrivacyLossDistribution:
        """Discretise every step on one grid and compose them all, dominating at every stage."""
        total: Any = None
        for (step, times), (remove, add) in zip(self.parts, self.ranges, strict=True):
            pmf = _discretise(step.remove, -add, remove, interval)
            reverse = None if step.add is step.remove else _discretise(step.add, -remove, add, interval)
            part = power(PrivacyLossDistribution(pmf, reverse), times, self.tail)
            total = part if total is None else total.compose(part, tail_mass_truncation=self.tail)
        return total


def power(distribution: PrivacyLossDistribution, times: int, tail: float) -> PrivacyLossDistribution:
    """Compose a distribution with itself, in two rounds if it is often.

    dp-accounting bounds the support of the result by moments whose orders follow the length of its input: for
    many repetitions of a short input that support is far too wide, and two rounds cut it down.
    """
    if times <= _ONE_ROUND:
        return distribution.self_compose(times, tail_mass_truncation=tail)
    root = math.isqrt(times)
    whole, rest = divmod(times, root)
    result = distribution.self_compose(root, tail_mass_truncation=tail / whole)
    result = result.self_compose(whole, tail_mass_truncation=tail)
    if rest:
        part = distribution.self_compose(rest, tail_mass_truncation=tail)
        result = result.compose(part, tail_mass_truncation=tail)
    return result


def _reach(profile: Profile, tail: float, spread: float) -> float:
    """Return an x at which the profile has fallen to `tail`, within 1 % of the smallest."""
    high = spread
    while profile(np.array([high]))[0] > tail:
        high *= 2.0
    low = 0.0 if high == spread else high / 2.0
    while high - low > 0.01 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if profile(np.array([middle]))[0] > tail else (low, middle)
    return high


def _discretise(profile: Profile, low: float, high: float, interval: float) -> pld_pmf.PLDPmf:
    first, last = math.floor(low / interval), math.ceil(high / interval)
    grid = np.arange(first, last + 1, dtype=np.float64) * interval
    deltas = np.clip(profile(grid), 0.0, 1.0)
    return pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, first, last, deltas)
