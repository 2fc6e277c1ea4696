"""No sampling, in the shape of a sampler: every step sees all records."""

import jax.numpy as jnp

from dpinfer.accounting.events import Event
from dpinfer.sampling.base import Batch, Sampler, require_size
from dpinfer.types import Key


def everyone(num_records: int) -> Sampler:
    """Choose all records in their order; a release on this batch is one on all records."""
    require_size(num_records)
    rows, mask = jnp.arange(num_records), jnp.ones(num_records, bool)

    def draw(key: Key) -> Batch:
        del key
        return Batch(rows, mask)

    def event(whole: Event) -> Event:
        return whole

    return Sampler(draw, float(num_records), event)
