"""Bayesian linear regression with known noise: y ~ N(w.x, noise_std^2), w ~ N(0, prior_std^2 I)."""

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm

from dpinfer.models.base import Model, Quadratic
from dpinfer.models.regression import weights
from dpinfer.settings.model import Linear
from dpinfer.types import Key, Records, Tree


def build(settings: Linear) -> Model:
    """Build the model for records with `x` of shape (D,), whose first entry may be a constant, and a real `y`."""

    def log_likelihood(w: Tree, record: Records) -> jax.Array:
        return norm.logpdf(record["y"], record["x"] @ w, settings.noise_std)

    def predict(key: Key, w: Tree, records: Records) -> jax.Array:
        del key
        return records["x"] @ w

    def quadratic(record: Records) -> Quadratic:
        x, scale = record["x"], settings.noise_std**-2
        return Quadratic(curvature=scale * jnp.outer(x, x), shift=scale * x * record["y"])

    return Model(*weights(settings.prior_std), log_likelihood, predict, quadratic=quadratic)
