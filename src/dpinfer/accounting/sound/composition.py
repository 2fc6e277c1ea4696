"""Composition of privacy profiles on a grid: discretise, convolve, read off.

dp-accounting does the work: connecting the dots gives a discrete loss distribution that dominates the
profile (Doroshenko et al., Algorithm 1, arXiv:2207.04380), and FFTs compose it. Here the ranges and the grid
are chosen, and a step that mostly loses nothing is composed without the rounding that would drown its tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from dp_accounting.pld import common, pld_pmf
from scipy import fft, special

from dpinfer.accounting.sound.profiles import Profile, Step

Parts = list[tuple[Step, int]]
# Rounding that no negative probability shows, as measured against the closed form up to 1e7 steps.
_LEAST_ROUNDING = 2e-14
MOST_POINTS = 1 << 20
_REFINED_POINTS = 1 << 16
_COARSEST_POINTS = 1 << 8
# A grid of more points takes seconds, and rounding grows with them.
_QUICK_POINTS = 1 << 18
# A finer grid is tried while it gains more than this share of the answer.
_STABLE = 1e-3
_STABLE_COARSE = 1e-4
# Probability of one loss above which a step counts as one that mostly loses just that.
_IDLE = 0.9
# Share of delta that may be lost to cutting off the tails of the loss.
_TAIL_SHARE = 1e-4


class CompositionRanges:
    """The part of an evaluation that needs no grid: the steps, their ranges and scales."""

    def __init__(self, parts: Parts, delta: float) -> None:
        self.parts = parts
        self.count = sum(times for _, times in parts)
        self.tail = delta * _TAIL_SHARE
        self.ranges = [self._range(step) for step, _ in parts]
        self.spread = math.sqrt(sum(times * step.spread**2 for step, times in parts))
        self.reach = max(sum(reach) for reach in self.ranges)
        self.width = max(self.reach, 18.0 * self.spread)

    def _range(self, step: Step) -> tuple[float, float]:
        tail = self.tail / self.count + step.floor
        remove = _reach(step.remove, tail, step.spread)
        if step.add is step.remove:
            return remove, remove
        return remove, _reach(step.add, tail, step.spread)

    def intervals(self) -> Iterator[float]:
        """Yield ever finer grids, as time allows; the error falls with the square of the interval."""
        interval = max(self._natural, self.width / MOST_POINTS)
        yield interval
        while self.width / interval < _REFINED_POINTS:
            interval /= 3.0
            yield interval

    def coarse(self) -> Iterator[float]:
        """Yield ever finer grids, from a few points for a step on; each adds to the rounding."""
        interval = self.reach / _COARSEST_POINTS
        while self.width / interval <= _QUICK_POINTS:
            yield interval
            interval /= 3.0

    @property
    def _natural(self) -> float:
        """A fraction of the spread of one step."""
        return self.spread / math.sqrt(self.count) / 16.0

    def least(self, read: Callable[[Composed], float]) -> tuple[float, float]:
        """Return the least of what is read off the grids, and the last interval.

        Where records are rarely drawn but lose much then, the grid that resolves a step has too many points: a
        coarse one does, as hardly anything is lost in the other steps. So it does where rounding spoils the rest.
        """
        best, interval = math.inf, math.nan
        searches = [(self.intervals(), _STABLE), (self.coarse(), _STABLE_COARSE)]
        for grids, stable in searches[self.reach / self._natural > _QUICK_POINTS :]:
            for interval in grids:
                value = read(self.compose(interval))
                gain = best - value
                best = min(best, value)
                if math.isfinite(best) and not gain > stable * best:
                    return best, interval
            if math.isfinite(best):
                break
        return best, interval

    def compose(self, interval: float) -> Composed:
        """Discretise every step on one grid and compose them all, dominating at every stage."""
        removes, adds = [], []
        for (step, times), (remove, add) in zip(self.parts, self.ranges, strict=True):
            removes.append(power(_discretise(step.remove, -add, remove, interval), times, self.tail))
            adds.append(
                removes[-1]
                if step.add is step.remove
                else power(_discretise(step.add, -remove, add, interval), times, self.tail)
            )
        if all(step.add is step.remove for step, _ in self.parts):
            return Composed((chain(removes, self.tail),))
        return Composed((chain(removes, self.tail), chain(adds, self.tail)))


class Composed(NamedTuple):
    """Loss distributions of a whole composition, one for each order of the pair (or one for both)."""

    orders: tuple[pld_pmf.PLDPmf, ...]

    def epsilon(self, delta: float) -> float:
        """Return the epsilon at `delta`, infinite where rounding leaves delta uncertain."""
        return max(self._epsilon(pmf, delta) for pmf in self.orders)

    def delta(self, epsilon: float) -> float:
        """Return the delta at `epsilon`, with the rounding added."""
        return max(float(pmf.get_delta_for_epsilon(epsilon)) + rounding(pmf) for pmf in self.orders)

    @staticmethod
    def _epsilon(pmf: pld_pmf.PLDPmf, delta: float) -> float:
        uncertain = rounding(pmf)
        return math.inf if uncertain > delta / 4.0 else float(pmf.get_epsilon_for_delta(delta - uncertain))


def rounding(pmf: pld_pmf.PLDPmf) -> float:
    """Return how uncertain the rounding of the FFTs leaves a tail probability.

    True probabilities are not negative, and rounding errs in both directions alike: what is found below zero
    measures it. (The package offers no other way to see the probabilities than this attribute.)
    """
    probabilities = pmf.to_dense_pmf()._probs
    return _LEAST_ROUNDING - 2.0 * float(np.sum(np.minimum(probabilities, 0.0)))


def chain(pmfs: list[pld_pmf.PLDPmf], tail: float) -> pld_pmf.PLDPmf:
    """Compose different distributions."""
    total = pmfs[0]
    for pmf in pmfs[1:]:
        total = pld_pmf.compose_pmfs(total, pmf, tail)
    return total


def power(pmf: pld_pmf.PLDPmf, times: int, tail: float) -> pld_pmf.PLDPmf:
    """Compose a distribution with itself, in two rounds if it is short and repeated often.

    dp-accounting bounds the support of the result by moments whose orders follow the length of its input: for
    many repetitions of a short input that support is far too wide, and two rounds cut it down.
    """
    if np.max(pmf.to_dense_pmf()._probs) > _IDLE:
        return _idle_power(pmf.to_dense_pmf(), times, tail)
    if pmf.size >= 6.0 * math.sqrt(times):
        return pmf.self_compose(times, tail)
    root = math.isqrt(times)
    whole, rest = divmod(times, root)
    result = pmf.self_compose(root, tail / whole).self_compose(whole, tail)
    return chain([result, pmf.self_compose(rest, tail)], tail) if rest else result


def _idle_power(pmf: pld_pmf.DensePLDPmf, times: int, tail: float) -> pld_pmf.DensePLDPmf:
    """Compose a distribution that is almost all at one point with itself.

    Its Fourier transform is 1 + g, up to a shift, with g small. From g itself, log and exp as log1p and expm1,
    rounding is as much smaller than in powers of 1 + g. Support and what is lost beyond are as in dp-accounting.
    """
    points = pmf._probs
    at = int(np.argmax(points))
    orders = np.geomspace(0.05, 40.0, 10) / len(points)
    low, high = common.compute_self_convolve_bounds(points, times, tail, np.concatenate((-orders, orders)))
    length = fft.next_fast_len(max(high - low + 1, len(points)), real=True)
    rest = np.zeros(length)
    rest[: len(points)] = points
    rest[at] -= 1.0
    transform = special.expm1(times * special.log1p(fft.rfft(np.roll(rest, -at))))
    result = fft.irfft(transform, length)
    result[0] += 1.0
    result = np.roll(result, (at * times - low) % length)[: high - low + 1]
    infinite = tail - math.expm1(times * math.log1p(-pmf._infinity_mass))
    return pld_pmf.DensePLDPmf(pmf._discretization, pmf._lower_loss * times + low, result, infinite, True)


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
