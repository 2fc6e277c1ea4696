"""What regressions share: weights with a Gaussian prior, one for each column of `x`."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm

from dpinfer.types import Key, Records, Tree


class Weights(NamedTuple):
    """The part of a model that is about its weights: `init` and `log_prior` of `Model`."""

    init: Callable[[Key, Records], Tree]
    log_prior: Callable[[Tree], jax.Array]


def weights(prior_std: float, intercept: bool = False) -> Weights:
    """Weights that are N(0, prior_std^2) each, the intercept's last; runs start from the mean of the prior."""

    def init(key: Key, records: Records) -> Tree:
        del key
        return jnp.zeros(records["x"].shape[-1] + intercept)

    def log_prior(value: Tree) -> jax.Array:
        return norm.logpdf(value, scale=prior_std).sum()

    return Weights(init, log_prior)
