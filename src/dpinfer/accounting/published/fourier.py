"""The Fourier accountant of d3p, behind guards (Koskela, Jalko & Honkela, arXiv:1906.03049v3).

fourier-accountant samples the density of the privacy loss on a grid and composes it by FFT. "R" is Poisson
sampling under add-remove, in the order (with, without) alone; "S" is Poisson sampling under replace-one. Its
values are estimates without an error bound, and can be wrong in silence, so every value is checked: the
composed probability must sum to one, if need be on a finer grid, and the value must lie within 1 % of the
bound from privacy-loss distributions. What fails a check is refused. The root is found here, by bisection,
because the package's own Newton iteration need not end and stops at 1e-10 in delta.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from fourier_accountant.common import _evaluate_pld
from numpy.typing import NDArray

from dpinfer.accounting.base import Bound, check_delta, check_epsilon, refusal, require, trivial
from dpinfer.accounting.events import Adjacency, Event, PoissonGaussian, tally
from dpinfer.accounting.sound import pld
from dpinfer.errors import InputError

NAME = "fourier"
_LEAST_DELTA = 1e-10
_MOST_EPSILON = 20.0
_MOST_POINTS = 4_000_000
_MASS_ERROR = 1e-7
_AGREEMENT = 1e-2


def supports(event: Event, adjacency: Adjacency) -> str | None:
    """Return None for compositions of Poisson-sampled Gaussian steps with sampling rates below 1."""
    for leaf, _ in tally(event):
        if isinstance(leaf, PoissonGaussian) and leaf.sampling_rate == 1.0:
            return f"The {NAME} accountant needs a sampling rate below 1, but {leaf} has 1."
    return refusal(event, adjacency, (PoissonGaussian,), NAME)


def epsilon(event: Event, delta: float, adjacency: Adjacency) -> Bound:
    """Return the checked estimate of epsilon, or refuse.

    The field `upper` holds the estimate: it may lie below the true value by the tolerance of the checks, so
    it serves to compare with figures made by this accountant, not as a guarantee.
    """
    require(supports(event, adjacency))
    delta = check_delta(delta)
    if delta <= _LEAST_DELTA:
        raise InputError(f"delta is {delta:g}, but the {NAME} accountant resolves only deltas above 1e-10.")
    known = trivial(event, NAME)
    if known is not None:
        return known
    reference = pld.epsilon(event, delta, adjacency).upper
    if not reference <= _MOST_EPSILON:
        raise InputError(
            f"epsilon is about {reference:g}, but the {NAME} accountant is trusted only up to {_MOST_EPSILON:g}."
        )
    loss = _checked(event, adjacency, max(20.0, 2.0 * reference))
    value = _root(loss.x, loss.mass, delta, loss.limit)
    # An epsilon below a few grid cells cannot be told from zero.
    if abs(value - reference) > _AGREEMENT * reference + 10.0 * loss.limit / len(loss.x):
        raise InputError(f"The {NAME} accountant gives {value:g} where the sound bound is {reference:g}.")
    return Bound(value, None, NAME, f"estimate on {len(loss.x)} points in +-{loss.limit:g}, checked")


def delta(event: Event, epsilon: float, adjacency: Adjacency) -> Bound:
    """Return the checked estimate of delta at a given epsilon, or refuse; see `epsilon` for what it is worth."""
    require(supports(event, adjacency))
    epsilon = check_epsilon(epsilon)
    known = trivial(event, NAME, infinite=1.0)
    if known is not None:
        return known
    if epsilon > _MOST_EPSILON:
        raise InputError(
            f"epsilon is {epsilon:g}, but the {NAME} accountant is trusted only up to {_MOST_EPSILON:g}."
        )
    loss = _checked(event, adjacency, max(20.0, 2.0 * epsilon))
    value = _excess(loss.x, loss.mass, epsilon)
    reference = pld.delta(event, epsilon, adjacency).upper
    if value <= _LEAST_DELTA or abs(value - reference) > 5.0 * _AGREEMENT * reference:
        raise InputError(
            f"The {NAME} accountant gives a delta of {value:g} where the sound bound is {reference:g}."
        )
    return Bound(value, None, NAME, f"estimate on {len(loss.x)} points in +-{loss.limit:g}, checked")


class _Loss(NamedTuple):
    """The composed privacy loss: probabilities on a grid within +-limit."""

    x: NDArray[np.float64]
    mass: NDArray[np.float64]
    limit: float


def _checked(event: Event, adjacency: Adjacency, limit: float) -> _Loss:
    """Compose on ever finer grids until the probabilities sum to one, or refuse."""
    points = 2 * int(5e5 * limit / 20.0)
    x, mass = _composed(event, adjacency, points, limit)
    while abs(float(np.sum(mass)) - 1.0) > _MASS_ERROR and points < _MOST_POINTS:
        points *= 2
        x, mass = _composed(event, adjacency, points, limit)
    total = float(np.sum(mass))
    if not abs(total - 1.0) <= _MASS_ERROR:
        raise InputError(f"The {NAME} accountant composes to a probability of {total:.9g} instead of 1.")
    return _Loss(x, mass, limit)


def _composed(
    event: Event, adjacency: Adjacency, points: int, limit: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the grid and the probabilities of the composed loss."""
    leaves = [(leaf, times) for leaf, times in tally(event) if isinstance(leaf, PoissonGaussian)]
    sigmas = np.array([leaf.noise_multiplier for leaf, _ in leaves])
    rates = np.array([leaf.sampling_rate for leaf, _ in leaves])
    times = np.array([count for _, count in leaves])
    relation = "R" if adjacency == "add-remove" else "S"
    try:
        with np.errstate(all="ignore"):
            grid, density, width = _evaluate_pld(relation, sigmas, rates, times, points, limit)
    except (ValueError, OverflowError) as error:
        raise InputError(f"The {NAME} accountant fails on {leaves[0][0]}: {error}") from error
    return np.real(grid), np.real(density) * width


def _root(x: NDArray[np.float64], mass: NDArray[np.float64], delta: float, limit: float) -> float:
    """Return the epsilon >= 0 at which sum over x > epsilon of (1 - e^(epsilon - x)) mass falls to delta."""

    def excess(value: float) -> float:
        return _excess(x, mass, value) - delta

    low, high = 0.0, limit
    if excess(low) <= 0.0:
        return 0.0
    while high - low > 1e-12 + 1e-9 * high and math.nextafter(low, high) < high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    return high


def _excess(x: NDArray[np.float64], mass: NDArray[np.float64], epsilon: float) -> float:
    """Return the sum over x > epsilon of (1 - e^(epsilon - x)) mass."""
    start = int(np.searchsorted(x, epsilon, side="right"))
    return float(np.sum(-np.expm1(epsilon - x[start:]) * mass[start:]))
