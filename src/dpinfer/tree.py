"""The few verbs for parameter trees that JAX and optax do not have."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.threefry import pairs
from dpinfer.types import Key, Tree

SINE = (6.2831853, -41.341681, 81.602481, -76.581285, 39.760722)
"""Coefficients of t, t^3, ..., t^9 in sin(2 pi t) for |t| <= 1/4; the rest is smaller than what float32 rounds."""

EVEN = 64


def normal_like(key: Key, tree: Tree) -> Tree:
    """Independent standard normal draws in the shapes of a tree, whose leaves may be shapes alone.

    All leaves are cut from one flat vector: `jax.random.normal` on shapes such as (45, 5, 3) has its innermost
    loop run over the last axis, which takes several times as long on a CPU.
    """
    leaves, structure = jax.tree.flatten(tree)
    sizes = [math.prod(leaf.shape) for leaf in leaves]
    flat = jax.lax.optimization_barrier(_normal(key, sum(sizes)))
    parts = jnp.split(flat, np.cumsum(sizes)[:-1])
    shaped = [part.reshape(leaf.shape).astype(leaf.dtype) for part, leaf in zip(parts, leaves, strict=True)]
    return jax.tree.unflatten(structure, shaped)


def _normal(key: Key, count: int) -> jax.Array:
    """Standard normal draws by Box and Muller's transform: of two words, one makes a radius and one an angle.

    The 32 bits of the radius reach to 6.8 standard deviations, those of an inverse distribution function in
    float32 to 5.4; and one logarithm for two draws costs less than two such inverses.
    """
    half = -(-count // 2)
    # XLA shares out a long vector among cores only where they get equal parts of it.
    half += -half % EVEN if half > 64 * EVEN else 0
    # The barriers keep XLA from computing for each half anew what both need.
    first, second = jax.lax.optimization_barrier(pairs(key, half))
    uniform = (first.astype(jnp.float32) + 0.5) * 2.0**-32
    radius = jax.lax.optimization_barrier(jnp.sqrt(-2 * jnp.log(uniform)))
    quarter = np.uint32(1 << 30)
    return jnp.concatenate([radius * _sine(second + quarter), radius * _sine(second)])[:count]


def _sine(angle: jax.Array) -> jax.Array:
    """Sine of an angle in units of 2^-32 of a turn."""
    turn = jax.lax.bitcast_convert_type(angle, jnp.int32).astype(jnp.float32) * 2.0**-32
    # The sine is the same for t and 1/2 - t: fold [-1/2, 1/2] to [-1/4, 1/4].
    folded = jnp.minimum(jnp.maximum(turn, -0.5 - turn), 0.5 - turn)
    square, series = jnp.square(folded), jnp.float32(0)
    for coefficient in reversed(SINE):
        series = series * square + coefficient
    return series * folded
