"""The Gaussian mechanism on a sum of gradients."""

import math

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Gaussian
from dpinfer.errors import InputError
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.per_example import clipped_sum
from dpinfer.tree import normal_like
from dpinfer.types import Key, Loss, Tree


def gaussian(clip: float, noise_multiplier: float, micro_batch: int | None = None) -> Mechanism:
    """Clip each example's gradient, sum, and add N(0, (noise_multiplier * clip)^2) to every coordinate, once.

    Guarantee: adding or removing one record moves the sum by at most `clip` in L2 norm, replacing one by at most
    2 `clip`; the event states the noise in units of `clip`.

    Args:
        clip: Largest norm of one example's gradient.
        noise_multiplier: Noise standard deviation over clip.
        micro_batch: How many gradients are held in memory at once; as many as fit by default.
    """
    if not 0 < clip < math.inf:
        raise InputError(f"the clip is {clip}, but should be positive and finite")
    # Arrays, which the loop passes to its program as arguments: other values need no other program.
    bound, scale = jnp.asarray(clip), jnp.asarray(noise_multiplier * clip)

    def random(key: Key, parameters: Tree) -> Tree:
        return normal_like(key, parameters)

    def release(noise: Tree, loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
        total = clipped_sum(loss, parameters, examples, mask, bound, micro_batch)
        return jax.tree.map(lambda value, unit: value + scale.astype(value.dtype) * unit, total, noise)

    return Mechanism(random, release, Gaussian(noise_multiplier=noise_multiplier))
