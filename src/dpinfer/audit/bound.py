"""A lower bound on epsilon from scores on two neighbouring data sets, valid at a stated confidence.

Half of the runs choose an event, such as "the score is above t"; the other half count how often it happens on
either data set. Clopper and Pearson's intervals turn the counts into p <= P(event) and q >= P'(event), both at
once with the stated confidence. Then epsilon >= log((p - delta) / q), whatever the mechanism is. A yardstick
that knows its account is sharper: see `account`.
"""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from dpinfer.errors import InputError

Array = NDArray[np.float64]
LEAST_TRIALS = 20
CANDIDATES = 100
"""Thresholds that are tried in either tail of either data set."""


class Yardstick(NamedTuple):
    """How a bound follows from p <= P(event) and q >= P'(event).

    Attributes:
        rank: `(p, q) -> (n,)`, how telling events are, to choose one of them.
        epsilon: `(p, q) -> bound` of the one.
    """

    rank: Callable[[Array, Array], Array]
    epsilon: Callable[[float, float], float]


class Event(NamedTuple):
    """That a score, times a sign, is above a threshold: it tells for one data set against the other.

    Attributes:
        statistic: Which score, where there are several.
        accuses: The data set that it tells for, 0 or 1.
        sign: 1 or -1.
        threshold: Of the signed score.
    """

    statistic: int
    accuses: int
    sign: int
    threshold: float


class Lower(NamedTuple):
    """A bound and what it rests on.

    Attributes:
        epsilon: The mechanism's epsilon is no smaller, but with probability 1 - confidence.
        hits: How often the event happened on the data set that it tells for.
        false_hits: How often on the other.
        trials: Of so many runs on each.
    """

    epsilon: float
    hits: int
    false_hits: int
    trials: int


def by_delta(delta: float) -> Yardstick:
    """Whatever the mechanism: (epsilon, delta)-privacy asks for p <= e^epsilon q + delta."""

    def rank(p: Array, q: Array) -> Array:
        return np.log(np.maximum(p - delta, 1e-300) / q)

    return Yardstick(rank, lambda p, q: max(0.0, math.log((p - delta) / q)) if p > delta else 0.0)


def lower(scores: tuple[Array, Array], confidence: float, yardstick: Yardstick) -> Lower:
    """Bound epsilon from below.

    Args:
        scores: (trials,) of each data set, independent within each; or (trials, statistics), of which the one
            that tells most is chosen as the threshold is.
        confidence: Probability with which the bound holds.
        yardstick: How counts become a bound.
    """
    trials = min(len(part) for part in scores)
    if trials < LEAST_TRIALS:
        raise InputError(f"the number of trials is {trials}, but should be at least {LEAST_TRIALS}")
    if not 0 < confidence < 1:
        raise InputError(f"the confidence is {confidence}, but should lie strictly between 0 and 1")
    if not all(np.isfinite(part).all() for part in scores):
        raise InputError("a score is not finite, so that no threshold can be held against it")
    half = trials // 2
    risk = (1 - confidence) / 2  # for each of the two intervals
    tables = [part.reshape(len(part), -1) for part in scores]
    event = _choose([part[:half] for part in tables], risk, yardstick)
    held = [int((event.sign * part[half:trials, event.statistic] > event.threshold).sum()) for part in tables]
    hits, false_hits = held[event.accuses], held[1 - event.accuses]
    count = trials - half
    p, q = at_least(np.array([hits]), count, risk)[0], at_most(np.array([false_hits]), count, risk)[0]
    return Lower(yardstick.epsilon(float(p), float(q)), hits, false_hits, count)


def _choose(scores: list[Array], risk: float, yardstick: Yardstick) -> Event:
    """The event that is most telling on runs that are not counted afterwards."""
    events, ranks = list[Event](), list[Array]()
    count = len(scores[0])
    places = np.unique(np.geomspace(1, count, CANDIDATES).astype(int))
    for statistic, sign in itertools.product(range(scores[0].shape[1]), (1, -1)):
        ordered = [np.sort(sign * part[:, statistic]) for part in scores]
        thresholds = np.unique(np.concatenate([part[-places] for part in ordered]))
        above = [count - np.searchsorted(part, thresholds, side="right") for part in ordered]
        for accuses in (0, 1):
            p, q = at_least(above[accuses], count, risk), at_most(above[1 - accuses], count, risk)
            ranks.append(yardstick.rank(p, q))
            events.extend(Event(statistic, accuses, sign, float(threshold)) for threshold in thresholds)
    return events[int(np.argmax(np.concatenate(ranks)))]


def at_least(hits: NDArray[np.int64], count: int, risk: float) -> Array:
    """Clopper and Pearson's lower end for a probability: it is too high with probability `risk` at most."""
    return np.where(hits > 0, betaincinv(np.maximum(hits, 1), count - hits + 1, risk), 0.0)


def at_most(hits: NDArray[np.int64], count: int, risk: float) -> Array:
    """The upper end likewise."""
    return np.where(hits < count, betaincinv(hits + 1, np.maximum(count - hits, 1), 1 - risk), 1.0)
