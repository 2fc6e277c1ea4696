"""Predictions averaged over the posterior."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree

DRAWS = 1000


def predictive_mean(key: Key, model: Model, sample: Callable[[Key], Tree], records: Records) -> jax.Array:
    """Mean outcome of each record over `DRAWS` draws of the parameters, (n,); one draw is in memory at a time.

    Args:
        key: For the draws.
        model: Its `predict` gives the outcome by one draw.
        sample: Draws parameters from the approximate posterior.
        records: Where to predict.
    """

    def add(total: jax.Array, own: Key) -> tuple[jax.Array, None]:
        key_sample, key_predict = jax.random.split(own)
        return total + model.predict(key_predict, sample(key_sample), records), None

    start = jnp.zeros(next(iter(records.values())).shape[0])
    return jax.lax.scan(add, start, jax.random.split(key, DRAWS))[0] / DRAWS
