"""Bayesian logistic regression: y ~ Bernoulli(sigmoid(w.x)), w ~ N(0, prior_std^2 I)."""

import jax

from dpinfer.models.base import Model
from dpinfer.models.regression import weights
from dpinfer.settings.model import Logistic
from dpinfer.types import Key, Records, Tree


def build(settings: Logistic) -> Model:
    """Build the model for records with `x` of shape (D,) and `y` in {0, 1}."""

    def logits(w: Tree, x: jax.Array) -> jax.Array:
        return x @ w[:-1] + w[-1] if settings.intercept else x @ w

    def log_likelihood(w: Tree, record: Records) -> jax.Array:
        # log sigmoid((2y - 1) w.x): the sign turns the failure's logit into a success's.
        return jax.nn.log_sigmoid((2 * record["y"] - 1) * logits(w, record["x"]))

    def predict(key: Key, w: Tree, records: Records) -> jax.Array:
        del key
        return jax.nn.sigmoid(logits(w, records["x"]))

    return Model(*weights(settings.prior_std, settings.intercept), log_likelihood, predict)
