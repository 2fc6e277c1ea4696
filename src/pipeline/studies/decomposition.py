"""How near a correction brings a normal variable to a logistic one: exactly, and as samples show it.

The correction is DP-MCMC's mixture, or the baseline that it is compared with: that of Seita et al. (2017) by ridge
regression. V_cor is put on a grid y_j of [-V, V] with weights u_j. Its sum with N(0, C) has the distribution
function sum_j u_j Phi((x - y_j) / sqrt(C)), which is compared with the logistic one at x_i in [-2V, 2V]: ridge
regression gives u, negative weights are cut to 0 and the rest is normalised.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from scipy.special import expit, ndtr

from dpinfer.inference import correction
from dpinfer.inference.correction import FINE_POINTS, FINE_REACH
from dpinfer.inference.names import Fitting
from pipeline.settings.study import Decomposition
from pipeline.studies import Row

Array = NDArray[np.float64]
REACH = 10.0
"""V, the end of the grid."""
Draw = Callable[[np.random.Generator, int], Array]
"""Draws so many values of a correction."""
DENSITY_AT = np.linspace(-10.0, 10.0, 500)
SHOWN_AT = np.linspace(-7.5, 7.5, 301)


class Ridge(NamedTuple):
    """A correction on a grid: (2n + 1,) evenly spaced values and their probabilities."""

    values: Array
    weights: Array


def fit_ridge(variance: float, half_points: int, penalty: float) -> Ridge:
    """Fit the weights of 2 n + 1 values; a penalty that is scaled with n^2 gives the same fit on another grid."""
    values = np.linspace(-REACH, REACH, 2 * half_points + 1)
    places = np.linspace(-2 * REACH, 2 * REACH, 4 * half_points + 1)
    matrix = ndtr((places[:, None] - values) / np.sqrt(variance))
    normal = matrix.T @ matrix
    normal[np.diag_indices_from(normal)] += penalty
    weights = np.maximum(solve(normal, matrix.T @ expit(places), assume_a="pos"), 0.0)
    return Ridge(values, weights / weights.sum())


def cdf(ridge: Ridge, x: Array, variance: float) -> Array:
    """Distribution function at x of the correction plus N(0, variance)."""
    spread = np.sqrt(variance)
    result: Array = np.concatenate(
        [ndtr((part[:, None] - ridge.values) / spread) @ ridge.weights for part in np.array_split(x, 20)]
    )
    return result


def ridge_density(ridge: Ridge, x: Array) -> Array:
    """Density of the correction itself: the weight of the nearest value over the spacing, 0 beyond the grid."""
    spacing = ridge.values[1] - ridge.values[0]
    nearest = np.clip(np.rint((x + REACH) / spacing).astype(int), 0, len(ridge.values) - 1)
    inside = np.abs(x) <= REACH + spacing / 2
    return np.where(inside, ridge.weights[nearest] / spacing, 0.0)


def ridge_diagnostics(ridge: Ridge, variance: float) -> dict[str, float]:
    """As for the mixture: `sup_error`, `tvd` and `variance` (see `correction.diagnostics`)."""
    x = np.linspace(-FINE_REACH, FINE_REACH, FINE_POINTS)
    found, wanted = cdf(ridge, x, variance), expit(x)
    # Half the total variation of the difference of the distribution functions.
    return {
        "sup_error": float(np.abs(found - wanted).max()),
        "tvd": float(0.5 * np.abs(np.diff(found - wanted)).sum()),
        "variance": float(ridge.weights @ ridge.values**2 - (ridge.weights @ ridge.values) ** 2),
    }


class Approximation(NamedTuple):
    """A correction, whichever way it was made: exact errors, log density at `DENSITY_AT`, and draws."""

    diagnostics: dict[str, float]
    log_density: Array
    draw: Draw


def rows(settings: Decomposition) -> Iterator[Row]:
    """Exact errors, the log density, errors of empirical distribution functions, and one of these as a whole."""
    found = _mixture(settings) if settings.approximation == "mixture" else _ridge(settings)
    for metric, value in found.diagnostics.items():
        yield {"metric": metric, "value": value}
    for x, value in zip(DENSITY_AT, found.log_density, strict=True):
        yield {"metric": "log_density", "x": x, "value": value}
    rng = np.random.default_rng(settings.seed)
    for repeat in range(settings.repeats):
        yield {"metric": "sampled_error", "repeat": repeat, "value": _error(_sums(settings, found.draw, rng))}
    if settings.shown:
        sums = np.sort(_sums(settings, found.draw, rng, settings.shown))
        shares = np.searchsorted(sums, SHOWN_AT, side="right") / len(sums)
        for x, share in zip(SHOWN_AT, shares, strict=True):
            yield {"metric": "cdf", "x": x, "value": share}
            yield {"metric": "cdf_gap", "x": x, "value": abs(share - expit(x))}


def _mixture(settings: Decomposition) -> Approximation:
    fitted = correction.fit(
        Fitting(
            variance=settings.variance,
            num_steps=settings.num_steps,
            reach=settings.reach,
            patience=settings.patience,
        )
    )

    def draw(rng: np.random.Generator, count: int) -> Array:
        which = rng.choice(len(fitted.weights), count, p=fitted.weights)
        normal = fitted.means[which] + fitted.deviations[which] * rng.standard_normal(count)
        return np.where(rng.random(count) < 0.5, -normal, normal)

    exact = correction.diagnostics(fitted, settings.variance)
    return Approximation(exact, correction.log_density(fitted, DENSITY_AT), draw)


def _ridge(settings: Decomposition) -> Approximation:
    fitted = fit_ridge(settings.variance, settings.half_points, settings.penalty)
    exact = ridge_diagnostics(fitted, settings.variance)
    with np.errstate(divide="ignore"):
        log_density = np.log(ridge_density(fitted, DENSITY_AT))

    def draw(rng: np.random.Generator, count: int) -> Array:
        return rng.choice(fitted.values, count, p=fitted.weights)

    return Approximation(exact, log_density, draw)


def _sums(settings: Decomposition, draw: Draw, rng: np.random.Generator, count: int | None = None) -> Array:
    """Draws of the correction plus the normal part."""
    count = count or settings.samples
    return draw(rng, count) + np.sqrt(settings.variance) * rng.standard_normal(count)


def _error(sums: Array) -> float:
    """The largest difference of the empirical distribution function of the draws from the logistic one."""
    wanted = expit(np.sort(sums))
    steps = np.arange(len(sums) + 1) / len(sums)
    return float(max(np.abs(wanted - steps[1:]).max(), np.abs(wanted - steps[:-1]).max()))


ROWS = {"decomposition": rows}
