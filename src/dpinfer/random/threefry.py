"""The block cipher behind JAX's default keys, written so that XLA compiles it into one loop.

Threefry-2x32 with 20 rounds (Salmon et al., SC 2011) turns a counter of two words into two random words. On CPUs
JAX runs its rounds in a loop that goes through memory each time; unrolled, the words stay in registers, which
takes less than half of the time. The words are the same.
"""

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.types import Key

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
ROUNDS = 20
PARITY = np.uint32(0x1BD11BDA)


def generator(key: Key) -> str:
    """What noise from this key is drawn by, in words for a reader of the ledger."""
    kind = str(jax.random.key_impl(key))
    return f"Threefry-2x32, {ROUNDS} rounds, Box-Muller" if kind == "threefry2x32" else f"{kind}, Box-Muller"


def words(key: Key, count: int) -> jax.Array:
    """`count` random 32-bit words."""
    return jnp.concatenate(pairs(key, -(-count // 2)))[:count]


def pairs(key: Key, count: int) -> tuple[jax.Array, jax.Array]:
    """Two vectors of `count` random 32-bit words: what the cipher makes of the counters (i, count + i).

    Keys of another kind than JAX's default get their words from JAX.
    """
    if str(jax.random.key_impl(key)) != "threefry2x32":
        drawn = jax.random.bits(key, (2, count), jnp.uint32)
        return drawn[0], drawn[1]
    counter = jnp.arange(count, dtype=jnp.uint32)
    first, second = jax.random.key_data(key)
    return _encrypt((first, second, first ^ second ^ PARITY), counter, counter + np.uint32(count))


def _encrypt(key: tuple[jax.Array, ...], left: jax.Array, right: jax.Array) -> tuple[jax.Array, jax.Array]:
    left, right = left + key[0], right + key[1]
    for number in range(1, ROUNDS // 4 + 1):
        for distance in ROTATIONS[(number - 1) % 2]:
            left = left + right
            right = left ^ _rotate(right, distance)
        left, right = left + key[number % 3], right + key[(number + 1) % 3] + np.uint32(number)
    return left, right


def _rotate(word: jax.Array, distance: int) -> jax.Array:
    return (word << np.uint32(distance)) | (word >> np.uint32(32 - distance))
