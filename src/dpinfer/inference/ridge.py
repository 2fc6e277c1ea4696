"""The correction of Seita et al. (2017) by ridge regression: the baseline that DP-MCMC's mixture is compared with.

V_cor is put on a grid y_j of [-V, V] with weights u_j. Its sum with N(0, C) has the distribution function
sum_j u_j Phi((x - y_j) / sqrt(C)), which is held against the logistic one at x_i in [-2V, 2V]: ridge regression
gives u, negative weights are cut to 0 and the rest is normalised.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from scipy.special import expit, ndtr

from dpinfer.inference.correction import FINE_POINTS, FINE_REACH

Array = NDArray[np.float64]
REACH = 10.0
"""V, the end of the grid."""


class Ridge(NamedTuple):
    """A correction on a grid: (2n + 1,) evenly spaced values and their probabilities."""

    values: Array
    weights: Array


def fit(variance: float, half_points: int, penalty: float) -> Ridge:
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


def density(ridge: Ridge, x: Array) -> Array:
    """Density of the correction itself: the weight of the nearest value over the spacing, 0 beyond the grid."""
    spacing = ridge.values[1] - ridge.values[0]
    nearest = np.clip(np.rint((x + REACH) / spacing).astype(int), 0, len(ridge.values) - 1)
    inside = np.abs(x) <= REACH + spacing / 2
    return np.where(inside, ridge.weights[nearest] / spacing, 0.0)


def diagnostics(ridge: Ridge, variance: float) -> dict[str, float]:
    """As for the mixture: `sup_error`, `tvd` and `variance` (see `correction.diagnostics`)."""
    x = np.linspace(-FINE_REACH, FINE_REACH, FINE_POINTS)
    found, wanted = cdf(ridge, x, variance), expit(x)
    # Half the total variation of the difference of the distribution functions.
    return {
        "sup_error": float(np.abs(found - wanted).max()),
        "tvd": float(0.5 * np.abs(np.diff(found - wanted)).sum()),
        "variance": float(ridge.weights @ ridge.values**2 - (ridge.weights @ ridge.values) ** 2),
    }
