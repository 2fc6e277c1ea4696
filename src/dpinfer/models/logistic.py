"""Bayesian logistic regression: y ~ Bernoulli(sigmoid(w.x)), w ~ N(0, prior_std^2 I)."""

import jax

from dpinfer.models.base import Model
from dpinfer.models.regression import weights
from dpinfer.types import Key, Records, Tree


def build(*, intercept: bool = False, prior_std: float = 1.0) -> Model:
    """Build the model for records with `x` of shape (D,) and `y` in {0, 1}.

    Args:
        intercept: Whether the last weight is that of a constant.
        prior_std: Standard deviation of the Gaussian prior on each weight.
    """

    def logits(w: Tree, x: jax.Array) -> jax.Array:
        return x @ w[:-1] + w[-1] if intercept else x @ w

    def log_likelihood(w: Tree, record: Records) -> jax.Array:
        # log sigmoid((2y - 1) w.x): the sign turns the failure's logit into a success's.
        return jax.nn.log_sigmoid((2 * record["y"] - 1) * logits(w, record["x"]))

    def predict(key: Key, w: Tree, records: Records) -> jax.Array:
        del key
        return jax.nn.sigmoid(logits(w, records["x"]))

    return Model(*weights(prior_std, intercept), log_likelihood, predict)
