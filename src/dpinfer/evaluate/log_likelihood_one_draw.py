"""The predictive log-likelihood as DPVI's released code computes it.

It means to average over ten draws of the posterior, but starts its list anew with each, so that the last is left,
and takes off log 10 once for all test records.
"""

from collections.abc import Callable
from math import log

import jax

from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree

MEANT = 10


def metric(key: Key, model: Model, sample: Callable[[Key], Tree], test: Records) -> jax.Array:
    """(sum over records of log p(x | theta) - log 10) / records, theta being one draw."""
    count = next(iter(test.values())).shape[0]
    key_sample, key_local = jax.random.split(key)
    parameters, records = sample(key_sample), {**test, **model.local(key_local, count)}
    each = jax.vmap(lambda record: model.log_likelihood(parameters, record))(records)
    return (each.sum() - log(MEANT)) / count
