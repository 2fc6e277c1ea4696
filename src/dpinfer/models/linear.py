"""Bayesian linear regression with known noise: y ~ N(w.x, noise_std^2), w ~ N(0, prior_std^2 I)."""

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm

from dpinfer.models.base import Model, Quadratic
from dpinfer.models.regression import weights
from dpinfer.types import Key, Records, Tree


def build(*, noise_std: float, prior_std: float = 1.0) -> Model:
    """Build the model for records with `x` of shape (D,), whose first entry may be a constant, and a real `y`.

    Args:
        noise_std: Standard deviation of the noise, which is known.
        prior_std: Standard deviation of the Gaussian prior on each weight.
    """

    def log_likelihood(w: Tree, record: Records) -> jax.Array:
        return norm.logpdf(record["y"], record["x"] @ w, noise_std)

    def predict(key: Key, w: Tree, records: Records) -> jax.Array:
        del key
        return records["x"] @ w

    def quadratic(record: Records) -> Quadratic:
        x, scale = record["x"], noise_std**-2
        return Quadratic(curvature=scale * jnp.outer(x, x), shift=scale * x * record["y"])

    return Model(*weights(prior_std), log_likelihood, predict, quadratic=quadratic)
