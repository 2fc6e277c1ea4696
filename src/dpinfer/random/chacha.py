"""Random numbers for releases: ChaCha20 (RFC 8439) as a kind of key, which every function of `jax.random` takes.

JAX's own keys have 64 bits and a cipher that was made for simulation. A key here has 256 bits, and whoever sees
any number of its words can tell neither the key nor another word, as far as is known. The purpose of a draw is
its nonce: words, new keys by splitting and new keys by folding in come from streams of their own.
"""

import math
import os

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import define_prng_impl

from dpinfer.errors import InputError
from dpinfer.types import Key

NAME = "ChaCha20"
CONSTANTS = np.frombuffer(b"expand 32-byte k", "<u4")
KEY_WORDS, BLOCK_WORDS = 8, 16
DOUBLE_ROUNDS = 10
WORDS, SPLIT, FOLD = 0, 1, 2
"""Purposes, which are the first word of the nonce."""

Block = tuple[jax.Array, ...]


def system_key() -> Key:
    """A key out of the operating system's entropy. Do not print or store it: it takes the noise off again."""
    entropy = np.frombuffer(os.urandom(4 * KEY_WORDS), np.uint32)
    return jax.random.wrap_key_data(jnp.asarray(entropy), impl=CHACHA20)


def is_system_key(key: Key) -> bool:
    """Whether a key is of the kind that `system_key` gives."""
    return str(jax.random.key_impl(key)) == NAME


def require_system_key(key: Key) -> None:
    """Refuse a key that somebody may know, for what is to be released."""
    if not is_system_key(key):
        raise InputError("release mode needs a key that nobody knows: pass dpinfer.system_key()")


def jax_key(key: Key) -> Key:
    """A key of JAX's own kind, drawn by this one: for code that knows no other, where nobody is to be hidden."""
    if not is_system_key(key):
        return key
    return jax.random.wrap_key_data(jax.random.bits(key, (2,), jnp.uint32), impl="threefry2x32")


def blocks(key: jax.Array, counter: jax.Array, nonce: tuple[int, int, int]) -> jax.Array:
    """The (16, count) words that the cipher makes of `count` counters (RFC 8439, Section 2.3).

    Args:
        key: (8,) words.
        counter: (count,) words.
        nonce: Three words.
    """
    head = jnp.concatenate([jnp.asarray(CONSTANTS), key])[:, None]
    tail = jnp.asarray(nonce, jnp.uint32)[:, None]
    size = counter.shape[0]
    filled = [jnp.broadcast_to(part, (part.shape[0], size)) for part in (head, counter[None], tail)]
    start = tuple(jnp.split(jnp.concatenate(filled), 4))
    mixed = jax.lax.fori_loop(0, DOUBLE_ROUNDS, lambda _, rows: _double_round(rows), start)
    return jnp.concatenate([row + first for row, first in zip(mixed, start, strict=True)])


def _double_round(rows: Block) -> Block:
    """Mix the columns of the four by four words, then the diagonals, which turning the rows makes columns."""
    mixed = quarter_round(*rows)
    turned = quarter_round(*(jnp.roll(row, -place, axis=0) for place, row in enumerate(mixed)))
    return tuple(jnp.roll(row, place, axis=0) for place, row in enumerate(turned))


def quarter_round(a: jax.Array, b: jax.Array, c: jax.Array, d: jax.Array) -> Block:
    """Mix four words (RFC 8439, Section 2.1)."""
    for far, near in ((16, 12), (8, 7)):
        a = a + b
        d = _rotate(d ^ a, far)
        c = c + d
        b = _rotate(b ^ c, near)
    return a, b, c, d


def _rotate(word: jax.Array, distance: int) -> jax.Array:
    return (word << np.uint32(distance)) | (word >> np.uint32(32 - distance))


def _stream(key: jax.Array, count: int, purpose: int) -> jax.Array:
    """`count` words."""
    counter = jnp.arange(-(-count // BLOCK_WORDS), dtype=jnp.uint32)
    return blocks(key, counter, (purpose, 0, 0)).reshape(-1)[:count]


def _seed(seed: jax.Array) -> jax.Array:
    """A key that is no secret, for tests."""
    return jnp.zeros(KEY_WORDS, jnp.uint32).at[0].set(seed.astype(jnp.uint32))


def _split(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    return _stream(key, math.prod(shape) * KEY_WORDS, SPLIT).reshape(*shape, KEY_WORDS)


def _fold_in(key: jax.Array, data: jax.Array | int) -> jax.Array:
    counter = jnp.asarray(data, jnp.uint32)[None]
    return blocks(key, counter, (FOLD, 0, 0))[:KEY_WORDS, 0]


def _random_bits(key: jax.Array, bit_width: int, shape: tuple[int, ...]) -> jax.Array:
    size = math.prod(shape)
    if bit_width == 64:
        high, low = _stream(key, 2 * size, WORDS).astype(jnp.uint64).reshape(2, *shape)
        return (high << np.uint64(32)) | low
    return _stream(key, size, WORDS).reshape(shape).astype(f"uint{bit_width}")


CHACHA20 = define_prng_impl(
    key_shape=(KEY_WORDS,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name=NAME,
    tag=NAME,
)
