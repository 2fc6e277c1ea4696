"""Batches of fixed size, drawn without replacement: the sampler of most of the papers."""

import jax.numpy as jnp

from dpinfer.sampling.base import Batch, Sampler, fixed_size, require_size
from dpinfer.sampling.feistel import permute, round_keys
from dpinfer.types import Key


def subset(num_records: int, batch: int) -> Sampler:
    """Draw a uniform subset of size `batch` afresh for each step, in O(batch).

    Its sound accounting differs from Poisson sampling's: replacing a record moves a clipped sum by 2 clip.
    """
    require_size(num_records, batch)
    positions, mask = jnp.arange(batch), jnp.ones(batch, bool)

    def draw(key: Key) -> Batch:
        return Batch(permute(round_keys(key), positions, num_records), mask)

    return Sampler(draw, float(batch), fixed_size(num_records, batch))
