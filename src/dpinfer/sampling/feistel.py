"""A keyed pseudo-random permutation of {0, ..., n-1} that is evaluated only where it is needed.

A Feistel network permutes {0, ..., 2^b - 1}, 2^b >= n: it splits b bits into two halves and, for a number of
rounds, adds a keyed hash of one half to the other. Walking the cycle (apply the network until the image lies
below n, at least once) restricts it to a permutation of {0, ..., n-1}; fewer than two applications are needed
on average (d3p, PoPETs 2022, Eqs. 8 to 13). So the first B images are a uniform subset of size B in O(B).

Two choices go beyond the paper. Every round has a random 32-bit key of its own, where the paper's code hashed
one seed below n, which allows n batches at most and visibly uneven inclusion. And there are eight rounds on a
domain of at least 2^8: fewer fail tests of pairwise inclusion at small n. `feistel_reference.py` is the same
permutation written for numba, against which this one is tested bit for bit.
"""

import jax
import jax.numpy as jnp

from dpinfer.sampling.base import require_size
from dpinfer.types import Key

ROUNDS = 8
MIN_BITS = 8


def round_keys(key: Key) -> jax.Array:
    """Draw the (ROUNDS,) 32-bit keys of one permutation."""
    return jax.random.bits(key, (ROUNDS,), jnp.uint32)


def permute(keys: jax.Array, index: jax.Array, num_records: int) -> jax.Array:
    """Map positions of {0, ..., num_records - 1} by the permutation that the round keys choose.

    Args:
        keys: (ROUNDS,) unsigned 32-bit integers.
        index: Positions, of any shape.
        num_records: The size of the domain, known when compiling.
    """
    require_size(num_records)
    return permute_below(keys, index, jnp.uint32(num_records), bits_for(num_records))


def permute_below(keys: jax.Array, index: jax.Array, limit: jax.Array, bits: int | jax.Array) -> jax.Array:
    """The same for a size that is known only when running; `bits` is `bits_for` that size.

    Every index must be below the limit: from elsewhere the walk might never get there.
    """

    def walk(image: jax.Array) -> jax.Array:
        return jnp.where(image < limit, image, _network(keys, image, bits))

    start = _network(keys, index.astype(jnp.uint32), bits)
    image = jax.lax.while_loop(lambda image: (image >= limit).any(), walk, start)
    return image.astype(jnp.int32)


def bits_for(num_records: int) -> int:
    """Width of the network's domain."""
    return max(MIN_BITS, (num_records - 1).bit_length())


def _network(keys: jax.Array, value: jax.Array, bits: int | jax.Array) -> jax.Array:
    """Permute {0, ..., 2^bits - 1}; halves of unequal width swap their widths with every round."""
    low_bits = bits // 2
    high_bits = bits - low_bits
    low, high = value & jnp.uint32((1 << low_bits) - 1), value >> low_bits
    for number in range(ROUNDS):
        mask = jnp.uint32((1 << high_bits) - 1)
        low, high = (high ^ _hash(low, keys[number])) & mask, low
        low_bits, high_bits = high_bits, low_bits
    return (high << low_bits) | low


def _hash(value: jax.Array, key: jax.Array) -> jax.Array:
    """Mix a half with a round key: multiply-xorshift, as in the finaliser of MurmurHash3."""
    mixed = (value ^ key) * jnp.uint32(0x9E3779B1)
    mixed = (mixed ^ (mixed >> 16)) * jnp.uint32(0x85EBCA6B)
    mixed = (mixed ^ (mixed >> 13)) * jnp.uint32(0xC2B2AE35)
    return mixed ^ (mixed >> 16)
