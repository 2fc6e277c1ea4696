"""The few verbs for parameter trees that JAX and optax do not have."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry_2x32

from dpinfer.types import Key, Tree


def normal_like(key: Key, tree: Tree) -> Tree:
    """Independent standard normal draws in the shapes of a tree, whose leaves may be shapes alone.

    All leaves are cut from one flat vector. `jax.random.normal` on shapes such as (45, 5, 3) takes five times as
    long on a CPU, since its innermost loop then runs over the last axis.
    """
    leaves, structure = jax.tree.flatten(tree)
    sizes = [math.prod(leaf.shape) for leaf in leaves]
    flat = jax.lax.optimization_barrier(_normal(words(key, sum(sizes))))
    parts = jnp.split(flat, np.cumsum(sizes)[:-1])
    shaped = [part.reshape(leaf.shape).astype(leaf.dtype) for part, leaf in zip(parts, leaves, strict=True)]
    return jax.tree.unflatten(structure, shaped)


def words(key: Key, count: int) -> jax.Array:
    """`count` random 32-bit words: the cipher of the key applied to 0, 1, 2, ...

    `jax.random.bits` gives every word a 64-bit counter of its own and folds the cipher's two words into one, so
    that draws do not depend on how an array is split over devices; that costs twice as much.
    """
    if str(jax.random.key_impl(key)) != "threefry2x32":
        return jax.random.bits(key, (count,), jnp.uint32)
    return threefry_2x32(jax.random.key_data(key), jnp.arange(count, dtype=jnp.uint32))


def _normal(bits: jax.Array) -> jax.Array:
    """Map uniform words to normal draws by the inverse of the normal distribution function.

    The 23 high bits choose the midpoint of one of 2^23 equal cells of (-1, 1), so the law is symmetric.
    """
    uniform = ((bits >> 9).astype(jnp.float32) + 0.5) * 2.0**-22 - 1
    return jnp.sqrt(2.0) * jax.lax.erf_inv(uniform)
