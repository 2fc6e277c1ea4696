"""The Feistel sampler as d3p's paper had it, kept to show its flaw: never use it for a private release.

Its key is one number below n, hashed into all eight rounds. So there are at most n different batches, and over
all of them some records are included several times as often as others: amplification by subsampling with rate
batch / n does not hold for them. (Revision f57e6935 of d3p, PoPETs 2022.)
"""

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event, NonPrivate
from dpinfer.sampling.base import Batch, Sampler, require_size
from dpinfer.types import Key

ROUNDS = 8


def small_seed(num_records: int, batch: int) -> Sampler:
    """Draw a batch of fixed size by a seed below `num_records`."""
    require_size(num_records, batch)

    def draw(key: Key) -> Batch:
        seed = jax.random.randint(key, (), 0, num_records).astype(jnp.uint32)
        return Batch(permute_by_seed(seed, jnp.arange(batch), num_records), jnp.ones(batch, bool))

    def event(whole: Event) -> Event:
        del whole
        return NonPrivate(reason="inclusion is not uniform: the sampler has only as many batches as records")

    return Sampler(draw, float(batch), event)


def permute_by_seed(seed: jax.Array, index: jax.Array, num_records: int) -> jax.Array:
    """The permutation that one seed chooses, at the given positions."""
    bits = num_records.bit_length()
    limit = jnp.uint32(num_records)
    start = _network(seed, index.astype(jnp.uint32), bits)
    image = jax.lax.while_loop(
        lambda image: (image >= limit).any(),
        lambda image: jnp.where(image < limit, image, _network(seed, image, bits)),
        start,
    )
    return image.astype(jnp.int32)


def _network(seed: jax.Array, value: jax.Array, bits: int) -> jax.Array:
    low_bits = bits >> 1
    mask = jnp.uint32((1 << low_bits) - 1)
    for number in range(ROUNDS):
        high, low = value >> low_bits, value & mask
        mixed = low ^ _murmur(high + _murmur(seed) + jnp.uint32(number))
        # The old upper part moves to the bottom; the next round cuts at the same place all the same.
        value = ((mixed & mask) << (bits - low_bits)) | high
    return value


def _murmur(value: jax.Array) -> jax.Array:
    value = (value ^ (value >> 16)) * jnp.uint32(0x85EBCA6B)
    value = (value ^ (value >> 13)) * jnp.uint32(0xC2B2AE35)
    return value ^ (value >> 16)
