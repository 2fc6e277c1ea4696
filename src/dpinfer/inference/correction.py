"""The correction V_cor: what a normal variable lacks to be logistic (DP-MCMC, arXiv:1901.10275, Eq. 8).

A Gaussian mixture, made symmetric by mirror images, whose sum with N(0, C) has nearly the standard logistic
density. The sum is a mixture again, with C added to every variance, so that nothing is sampled while fitting: the
loss is the Euclidean norm, over a grid, of the difference of the log densities. No exact V_cor exists for any
C > 0: the characteristic function that it would need grows beyond 1. How far a fit is off is in `diagnostics`.

All of it in double precision, but for the draws inside of a chain.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, ndtr

from dpinfer.inference.names import Fitting
from dpinfer.types import Key

Array = NDArray[np.float64]
START_STD = 0.1
FINE_REACH = 40.0
"""Beyond it the logistic distribution has less than 1e-17 of its mass."""
FINE_POINTS = 40_001
CHUNK = 100
"""Steps between looks at the loss, where patience is limited."""


class Correction(NamedTuple):
    """A mixture of Gaussians and their mirror images.

    Attributes:
        means: (K,) of the components; the mirror images have the opposite signs.
        deviations: (K,) standard deviations.
        weights: (K,) which sum to 1, shared evenly by component and image.
    """

    means: Array
    deviations: Array
    weights: Array


class Randomness(NamedTuple):
    """What one draw is made of: which component or image, and where in it."""

    uniform: jax.Array
    normal: jax.Array


def fit(wanted: Fitting, seed: int = 0) -> Correction:
    """Fit the mixture by Adam; the same arguments give the same mixture."""
    with jax.enable_x64(True):
        start = _start(np.random.default_rng(seed), wanted.components)
        means, log_deviations, logits = _descend(wanted, start)
        return Correction(*(np.asarray(part) for part in (means, jnp.exp(log_deviations), jax.nn.softmax(logits))))


def log_density(correction: Correction, x: Array, variance: float = 0.0) -> Array:
    """Log density at x of the correction plus N(0, variance)."""
    spread = np.sqrt(correction.deviations**2 + variance)
    scale = np.log(correction.weights / 2) - np.log(spread)
    each = [scale - ((x[:, None] - sign * correction.means) / spread) ** 2 / 2 for sign in (-1, 1)]
    result: Array = logsumexp(np.concatenate(each, axis=1), axis=1) - 0.5 * math.log(2 * math.pi)
    return result


def cdf(correction: Correction, x: Array, variance: float = 0.0) -> Array:
    """Distribution function at x of the correction plus N(0, variance)."""
    spread = np.sqrt(correction.deviations**2 + variance)
    each = sum(ndtr((x[:, None] - sign * correction.means) / spread) for sign in (-1, 1))
    result: Array = each @ (correction.weights / 2)
    return result


def diagnostics(correction: Correction, variance: float) -> dict[str, float]:
    """How far the correction plus N(0, variance) is from the standard logistic distribution.

    Returns:
        `sup_error`, the largest difference of the distribution functions; `tvd`, the total variation distance;
        and `variance`, which would be pi^2 / 3 less the normal's.
    """
    x = np.linspace(-FINE_REACH, FINE_REACH, FINE_POINTS)
    gap = np.abs(np.exp(log_density(correction, x, variance)) - np.exp(log_logistic(x)))
    return {
        "sup_error": float(np.abs(cdf(correction, x, variance) - expit(x)).max()),
        "tvd": float(0.5 * np.trapezoid(gap, x)),
        "variance": float(correction.weights @ (correction.means**2 + correction.deviations**2)),
    }


def log_logistic(x: Array) -> Array:
    """Log density of the standard logistic distribution."""
    return np.asarray(-np.abs(x) - 2 * np.log1p(np.exp(-np.abs(x))))


def random(key: Key) -> Randomness:
    """What is random about one draw."""
    key_uniform, key_normal = jax.random.split(key)
    return Randomness(jax.random.uniform(key_uniform), jax.random.normal(key_normal))


def draw(correction: Correction, drawn: Randomness) -> jax.Array:
    """One draw of V_cor, in single precision as the chain that it goes to."""
    ends = jnp.asarray(np.cumsum(np.concatenate([correction.weights, correction.weights]) / 2)[:-1], jnp.float32)
    index = jnp.searchsorted(ends, drawn.uniform, side="right")
    means = jnp.asarray(np.concatenate([correction.means, -correction.means]), jnp.float32)
    deviations = jnp.asarray(np.tile(correction.deviations, 2), jnp.float32)
    return means[index] + deviations[index] * drawn.normal


def to_dict(correction: Correction) -> dict[str, list[float]]:
    """The mixture as plain values."""
    return {name: part.tolist() for name, part in correction._asdict().items()}


def from_dict(values: dict[str, list[float]]) -> Correction:
    """The mixture that `to_dict` wrote."""
    return Correction(**{name: np.asarray(values[name], np.float64) for name in Correction._fields})


def _start(rng: np.random.Generator, components: int) -> tuple[Array, Array, Array]:
    """Means and logarithms of deviations near 0, logits in [0, 1], as in the paper's code."""
    means, log_deviations = START_STD * rng.standard_normal((2, components))
    return means, log_deviations, rng.random(components)


def _descend(wanted: Fitting, start: tuple[Array, Array, Array]) -> Any:
    """Minimise the loss in chunks; with patience, keep the best and stop when it has not improved for long."""
    # Both densities are symmetric: one half of the grid tells all.
    x = jnp.linspace(-wanted.reach, wanted.reach, wanted.points)[wanted.points // 2 :]
    target = jnp.asarray(log_logistic(np.asarray(x)))
    optimiser = optax.adam(wanted.learning_rate)

    def loss(parameters: Any) -> jax.Array:
        means, log_deviations, logits = parameters
        variances = jnp.exp(2 * log_deviations) + wanted.variance
        scale = jax.nn.log_softmax(logits) - 0.5 * jnp.log(variances)
        both = [-((x[:, None] - sign * means) ** 2) / (2 * variances) + scale for sign in (-1, 1)]
        log_model = jax.nn.logsumexp(jnp.concatenate(both, axis=1), axis=1) - 0.5 * math.log(8 * math.pi)
        return jnp.sqrt(2 * ((log_model - target) ** 2).sum())

    def step(carried: Any, _: None) -> tuple[Any, None]:
        parameters, memory, best, best_loss, waited = carried
        value, gradient = jax.value_and_grad(loss)(parameters)
        change, memory = optimiser.update(gradient, memory)
        better = value < best_loss
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), parameters, best)
        after = optax.apply_updates(parameters, change)
        return (after, memory, best, jnp.minimum(value, best_loss), jnp.where(better, 0, waited + 1)), None

    length = math.gcd(wanted.num_steps, CHUNK)
    advance = jax.jit(lambda carried: jax.lax.scan(step, carried, None, length=length)[0])
    parameters = jax.tree.map(jnp.asarray, start)
    carried = (parameters, optimiser.init(parameters), parameters, jnp.asarray(jnp.inf), jnp.asarray(0))
    for _ in range(wanted.num_steps // length):
        carried = advance(carried)
        if wanted.patience is not None and int(carried[-1]) > wanted.patience:
            break
    return carried[2]
