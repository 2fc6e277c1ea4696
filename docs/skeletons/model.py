"""Probit regression: P(y = 1) = Phi(w.x), w ~ N(0, prior_std^2 I)."""

import jax
from jax.scipy.stats import norm

from dpinfer.models.base import Model
from dpinfer.models.regression import weights
from dpinfer.types import Key, Records, Tree


def build(*, prior_std: float = 1.0) -> Model:
    """Build the model for records with `x` of shape (D,) and `y` in {0, 1}.

    Args:
        prior_std: Standard deviation of the Gaussian prior on each weight.
    """

    def log_likelihood(w: Tree, record: Records) -> jax.Array:
        return norm.logcdf((2 * record["y"] - 1) * (record["x"] @ w))

    def predict(key: Key, w: Tree, records: Records) -> jax.Array:
        del key
        return norm.cdf(records["x"] @ w)

    return Model(*weights(prior_std), log_likelihood, predict)
