"""Bayesian linear regression with known noise: y ~ N(w.x, noise_std^2), w ~ N(0, prior_std^2 I)."""

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm

from dpinfer.models.base import Model, Quadratic
from dpinfer.settings.model import Linear
from dpinfer.types import Key, Records, Tree


def build(settings: Linear) -> Model:
    """Build the model for records with `x` of shape (D,), whose first entry may be a constant, and a real `y`."""

    def init(key: Key, records: Records) -> Tree:
        del key  # every run starts from the mean of the prior
        return jnp.zeros(records["x"].shape[-1])

    def log_prior(weights: Tree) -> jax.Array:
        return norm.logpdf(weights, scale=settings.prior_std).sum()

    def log_likelihood(weights: Tree, record: Records) -> jax.Array:
        return norm.logpdf(record["y"], record["x"] @ weights, settings.noise_std)

    def predict(key: Key, weights: Tree, records: Records) -> jax.Array:
        del key
        return records["x"] @ weights

    def quadratic(record: Records) -> Quadratic:
        x, scale = record["x"], settings.noise_std**-2
        return Quadratic(curvature=scale * jnp.outer(x, x), shift=scale * x * record["y"])

    return Model(init, log_prior, log_likelihood, predict, quadratic=quadratic)
