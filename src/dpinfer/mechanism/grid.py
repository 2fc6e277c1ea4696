"""The Gaussian mechanism for releases: sum and noise on one public grid, in integer arithmetic.

The proofs of the Gaussian mechanism are about real numbers. A 32-bit sum with 32-bit noise can betray the sum by
its last bits (Mironov, CCS 2012): some values cannot have come of one sum, some not of the other. Here every
clipped gradient is rounded to multiples of a power of two g, and the multiples k are added up exactly. The noise
is round(z / g), z being normal; and since k is whole,

    k + round(z / g) = round((k g + z) / g),

so that what is released is a function of k g + z, the Gaussian mechanism on rounded gradients, and costs no more.
Rounding moves a gradient of d numbers by at most g sqrt(d) / 2, and floating-point arithmetic a norm by at most a
share of about d half ulps: gradients are clipped to that much less, so that, rounded, they respect the clip.

What remains is that z is not exactly normal: it is made of 128 random bits with the 53 bits of 64-bit floats. So
the probability of a multiple is right to a share of about 1e-9, and beyond 9.4 standard deviations there is none.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer import tree
from dpinfer.accounting.events import Gaussian
from dpinfer.clipping.sums import by_gradients, fitting, in_parts, require_clip, require_precision
from dpinfer.errors import InputError
from dpinfer.mechanism.base import Mechanism
from dpinfer.random import normal
from dpinfer.types import Key, Loss, Tree

FINEST = 20
"""A standard deviation of the noise has at most 2^20 multiples of the grid."""
REACH = 10.0
"""Noise stays within so many standard deviations."""
MOST_LOST = 0.5
"""Largest share of the clip that rounding may take."""


def on_grid(clip: float, noise_multiplier: float, most_records: int, micro_batch: int | None = None) -> Mechanism:
    """Clip each example's gradient, round, sum, and add rounded N(0, (noise_multiplier * clip)^2), once.

    Guarantee: as that of `gaussian`, for numbers as computers have them: see above.

    Args:
        clip: Largest norm of one example's gradient, rounding included.
        noise_multiplier: Noise standard deviation over clip.
        most_records: Largest number of records in a batch, which is public.
        micro_batch: How many gradients are held in memory at once; as many as fit by default.
    """
    require_clip(clip)
    scale = noise_multiplier * clip
    spacing = grid(clip, scale, most_records)

    def random(key: Key, parameters: Tree) -> Tree:
        with jax.enable_x64(True):
            drawn = normal.double(key, tree.size(parameters)) * (scale / spacing)
            multiples = jnp.rint(drawn).astype(jnp.int32)
        whole = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, jnp.int32), parameters)
        return tree.cut_from(multiples, whole)

    def release(noise: Tree, loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
        require_precision(parameters)
        bound = clip_before_rounding(clip, spacing, parameters)
        total = rounded_sum(loss, parameters, examples, mask, bound, spacing, micro_batch)
        return jax.tree.map(
            lambda leaf, multiples, unit: (multiples + unit).astype(leaf.dtype) * spacing, parameters, total, noise
        )

    numbers = f"whole multiples of 2^{round(math.log2(spacing))}"
    return Mechanism(random, release, Gaussian(noise_multiplier=noise_multiplier), scale, numbers)


def rounded_sum(
    loss: Loss,
    parameters: Tree,
    examples: Tree,
    mask: jax.Array,
    clip: float,
    spacing: float,
    micro_batch: int | None = None,
) -> Tree:
    """The exact sum of clipped gradients, each rounded to multiples of `spacing`, as 32-bit counts of these.

    Rounding needs every example's gradient, so they are taken one by one.
    """

    def added(weights: jax.Array, leaf: jax.Array) -> jax.Array:
        scaled = leaf * (weights / spacing).reshape(-1, *(1,) * (leaf.ndim - 1))
        return jnp.rint(scaled).astype(jnp.int32).sum(0, dtype=jnp.int32)

    chunk = by_gradients(loss, parameters, clip, added)
    return in_parts(chunk, examples, mask, micro_batch or fitting(parameters, mask.shape[0])).total


def grid(clip: float, noise_std: float, most_records: int) -> float:
    """The finest power of two at which sums and noise still fit into 32 bits."""
    largest = most_records * clip + REACH * noise_std
    return 2.0 ** math.ceil(max(math.log2(largest) - 31, math.log2(noise_std) - FINEST))


def clip_before_rounding(clip: float, spacing: float, parameters: Tree) -> float:
    """The norm to which gradients are scaled down so that, rounded, they respect the clip."""
    count = tree.size(parameters)
    half_ulp = max(float(np.finfo(leaf.dtype).eps) / 2 for leaf in jax.tree.leaves(parameters))
    rounding = spacing * math.sqrt(count) / 2
    if rounding > MOST_LOST * clip:
        raise InputError(
            f"{count} parameters are too many for noise on a grid: rounding takes {rounding / clip:.0%} of the "
            "clip; take smaller batches or less noise"
        )
    return (clip - rounding) / (1 + (count + 8) * half_ulp)
