"""How near a correction brings a normal variable to a logistic one: exactly, and as samples show it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpinfer.inference import correction, ridge
from dpinfer.inference.names import Fitting
from pipeline.settings.decomposition import Decomposition
from pipeline.studies import Row

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]
"""Draws so many values of a correction."""
DENSITY_AT = np.linspace(-10.0, 10.0, 500)
SHOWN_AT = np.linspace(-7.5, 7.5, 301)


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
    fitted = ridge.fit(settings.variance, settings.half_points, settings.penalty)
    exact = ridge.diagnostics(fitted, settings.variance)
    with np.errstate(divide="ignore"):
        log_density = np.log(ridge.density(fitted, DENSITY_AT))

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
