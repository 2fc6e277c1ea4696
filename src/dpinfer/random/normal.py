"""Standard normal draws by Box and Muller's transform: one uniform number is a radius, the other an angle."""

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.random.threefry import pairs
from dpinfer.types import Key

SINE = (6.2831853, -41.341681, 81.602481, -76.581285, 39.760722)
"""Coefficients of t, t^3, ..., t^9 in sin(2 pi t) for |t| <= 1/4; the rest is smaller than what float32 rounds."""

EVEN = 64


def single(key: Key, count: int) -> jax.Array:
    """(count,) draws of 32 bits, quickly: for experiments.

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
    return jnp.concatenate([radius * sine(second + quarter), radius * sine(second)])[:count]


def double(key: Key, count: int) -> jax.Array:
    """(count,) draws of 64 bits, whether or not JAX has 64-bit numbers enabled elsewhere.

    Radius and angle have 64 random bits each, which reach to 9.4 standard deviations; all of the computation keeps
    the 53 bits of a 64-bit float. To be used within `jax.enable_x64(True)`, as the result would else be cut.
    """
    half = -(-count // 2)
    words = jax.random.bits(key, (4, half), jnp.uint32)
    with jax.enable_x64(True):
        radius, angle = (_uniform(words[place], words[place + 1]) for place in (0, 2))
        length, turn = jnp.sqrt(-2 * jnp.log(radius)), 2 * np.pi * angle
        return jnp.concatenate([length * jnp.cos(turn), length * jnp.sin(turn)])[:count]


def _uniform(high: jax.Array, low: jax.Array) -> jax.Array:
    """A number in (0, 1) out of two words, as precise as a 64-bit float can be also where it is small."""
    return high.astype(jnp.float64) * 2.0**-32 + (low.astype(jnp.float64) + 0.5) * 2.0**-64


def sine(angle: jax.Array) -> jax.Array:
    """Sine of an angle in units of 2^-32 of a turn."""
    turn = jax.lax.bitcast_convert_type(angle, jnp.int32).astype(jnp.float32) * 2.0**-32
    # The sine is the same for t and 1/2 - t: fold [-1/2, 1/2] to [-1/4, 1/4].
    folded = jnp.minimum(jnp.maximum(turn, -0.5 - turn), 0.5 - turn)
    square, series = jnp.square(folded), jnp.float32(0)
    for coefficient in reversed(SINE):
        series = series * square + coefficient
    return series * folded
