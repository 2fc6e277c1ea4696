"""JAX's own ways to draw a batch of fixed size, for comparison: both cost O(n) for each batch."""

import jax
import jax.numpy as jnp

from dpinfer.sampling.base import Batch, Sampler, fixed_size, require_size
from dpinfer.types import Key


def choice(num_records: int, batch: int) -> Sampler:
    """Draw by `jax.random.choice` without replacement."""
    require_size(num_records, batch)

    def draw(key: Key) -> Batch:
        index = jax.random.choice(key, num_records, (batch,), replace=False)
        return Batch(index, jnp.ones(batch, bool))

    return Sampler(draw, float(batch), fixed_size(num_records, batch))


def shuffle(num_records: int, batch: int) -> Sampler:
    """Draw the head of a `jax.random.permutation` of all records."""
    require_size(num_records, batch)

    def draw(key: Key) -> Batch:
        return Batch(jax.random.permutation(key, num_records)[:batch], jnp.ones(batch, bool))

    return Sampler(draw, float(batch), fixed_size(num_records, batch))
