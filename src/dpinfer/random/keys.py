"""Random keys out of one: for different purposes, and for what is done with different numbers."""

import zlib

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.types import Key, Tree

LANES = ((0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D), (0x27D4EB2F, 0x165667B1, 0xD3A2646D))
"""For each of two hashes: odd factors of words and of positions, and what is added."""


def stream(key: Key, purpose: str) -> Key:
    """The key of a purpose, apart from those of all others and from those that `split` gives.

    With JAX's own keys `split(key, 3)[i]` is `fold_in(key, i)`: purposes told apart by small numbers would share
    keys with whatever else splits the same one.
    """
    return jax.random.fold_in(key, zlib.crc32(purpose.encode()))


def fold(key: Key, *words: int | jax.Array) -> Key:
    """Fold words, scalars or vectors of 32-bit integers, into a key one after the other."""
    all_words = jnp.concatenate([jnp.ravel(_word(word)) for word in words])
    # In a loop: a program with as many ciphers would take long to compile.
    return jax.lax.scan(lambda own, word: (jax.random.fold_in(own, word), None), key, all_words)[0]


def digest(tree: Tree) -> jax.Array:
    """(2,) words that differ, but for a chance of 2^-64, where any bit of any leaf does.

    h = sum_i mix(f w_i + g i + c) mod 2^32 for the words w_i of all leaves, with f, g, c of `LANES`. The mixing
    makes it more than linear: by a plain sum with odd factors, (x, y) and (-x, -y) would have the same digest.
    """
    total, start = jnp.zeros(2, jnp.uint32), 0
    for leaf in jax.tree.leaves(tree):
        words = _words(leaf)
        position = jnp.arange(start, start + words.size, dtype=jnp.uint32)
        mixed = [
            mix(words * np.uint32(f) + position * np.uint32(g) + np.uint32(c)).sum(dtype=jnp.uint32)
            for f, g, c in LANES
        ]
        total, start = total + jnp.stack(mixed), start + words.size
    return total


def _word(word: int | jax.Array) -> jax.Array:
    return jnp.asarray(np.uint32(word) if isinstance(word, int) else word).astype(jnp.uint32)


def _words(leaf: jax.Array) -> jax.Array:
    """The bits of an array as a vector of 32-bit words."""
    value = jnp.asarray(leaf)
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    if jnp.iscomplexobj(value):
        value = jnp.stack([value.real, value.imag])
    if value.dtype == bool or value.dtype.itemsize == 0:
        return value.astype(jnp.uint32).ravel()
    width = min(8 * value.dtype.itemsize, 32)
    return jax.lax.bitcast_convert_type(value, f"uint{width}").astype(jnp.uint32).ravel()


def mix(word: jax.Array) -> jax.Array:
    """A bijection of words in which every bit moves every other (the last step of MurmurHash3)."""
    word = (word ^ (word >> 16)) * np.uint32(0x85EBCA6B)
    word = (word ^ (word >> 13)) * np.uint32(0xC2B2AE35)
    return word ^ (word >> 16)
