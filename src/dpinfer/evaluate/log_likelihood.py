"""How probable the test records are under the posterior predictive."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model
from dpinfer.posterior.predictive import DRAWS
from dpinfer.types import Key, Records, Tree


def metric(key: Key, model: Model, sample: Callable[[Key], Tree], test: Records) -> jax.Array:
    """Mean over records of log((1/S) sum_s p(x | theta_s)), theta_s being S = `DRAWS` draws of the posterior.

    What the model integrates out for each record is drawn anew with every theta_s. One draw
    is in memory at a time.
    """
    count = next(iter(test.values())).shape[0]

    def add(total: jax.Array, own: Key) -> tuple[jax.Array, None]:
        key_sample, key_local = jax.random.split(own)
        parameters, records = sample(key_sample), {**test, **model.local(key_local, count)}
        each = jax.vmap(lambda record: model.log_likelihood(parameters, record))(records)
        return jnp.logaddexp(total, each), None

    total = jax.lax.scan(add, jnp.full(count, -jnp.inf), jax.random.split(key, DRAWS))[0]
    return (total - jnp.log(DRAWS)).mean()
