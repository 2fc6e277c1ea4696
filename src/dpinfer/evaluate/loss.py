"""Mean negative log-likelihood of test records, or the bound that the model has instead of it."""

from collections.abc import Callable

import jax

from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree

AT_ONCE = 128


def metric(key: Key, model: Model, sample: Callable[[Key], Tree], test: Records) -> jax.Array:
    """Mean over records, by one draw of what the model draws for each."""
    key_sample, key_local = jax.random.split(key)
    parameters = sample(key_sample)
    records = {**test, **model.local(key_local, next(iter(test.values())).shape[0])}
    return -jax.lax.map(
        lambda record: model.log_likelihood(parameters, record), records, batch_size=AT_ONCE
    ).mean()
