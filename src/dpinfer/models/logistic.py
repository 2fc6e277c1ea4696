"""Bayesian logistic regression: y ~ Bernoulli(sigmoid(w.x)), w ~ N(0, prior_std^2 I), no intercept."""

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm

from dpinfer.models.base import Model
from dpinfer.settings.model import Logistic
from dpinfer.types import Key, Records, Tree


def build(settings: Logistic) -> Model:
    """Build the model for records with `x` of shape (D,) and `y` in {0, 1}."""

    def init(key: Key, records: Records) -> Tree:
        del key  # every run starts from the mean of the prior
        return jnp.zeros(records["x"].shape[-1])

    def log_prior(weights: Tree) -> jax.Array:
        return norm.logpdf(weights, scale=settings.prior_std).sum()

    def log_likelihood(weights: Tree, record: Records) -> jax.Array:
        # log sigmoid((2y - 1) w.x): the sign turns the failure's logit into a success's.
        return jax.nn.log_sigmoid((2 * record["y"] - 1) * (record["x"] @ weights))

    def predict(key: Key, weights: Tree, records: Records) -> jax.Array:
        del key
        return jax.nn.sigmoid(records["x"] @ weights)

    return Model(init, log_prior, log_likelihood, predict)
