"""The Gaussian mechanism on a sum of gradients."""

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Gaussian
from dpinfer.clipping.sums import clipped_sum, require_clip
from dpinfer.mechanism.base import Mechanism
from dpinfer.tree import normal_like
from dpinfer.types import Loss, Tree


def gaussian(
    clip: float, noise_multiplier: float, micro_batch: int | None = None, examples_per_record: int = 1
) -> Mechanism:
    """Clip each example's gradient, sum, and add N(0, (noise_multiplier * clip)^2) to every coordinate, once.

    Guarantee: adding or removing one record moves the sum by at most `clip` in L2 norm, replacing one by at most
    2 `clip`; the event states the noise in units of `clip`.

    Args:
        clip: Largest norm of one example's gradient.
        noise_multiplier: Noise standard deviation over clip.
        micro_batch: How many gradients are held in memory at once; as many as fit by default.
        examples_per_record: Where a record comes as several examples, as with several draws for each, how many:
            each is clipped to `clip` over this, so that their sum respects `clip`.
    """
    require_clip(clip)
    # Arrays, which the loop passes to its program as arguments: other values need no other program.
    bound, scale = jnp.asarray(clip / examples_per_record), jnp.asarray(noise_multiplier * clip)

    def release(noise: Tree, loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
        total = clipped_sum(loss, parameters, examples, mask, bound, micro_batch).total
        return noisy(total, noise, scale)

    return Mechanism(normal_like, release, Gaussian(noise_multiplier=noise_multiplier), scale)


def noisy(total: Tree, noise: Tree, scale: jax.Array) -> Tree:
    """Add unit noise times its standard deviation to a sum."""
    return jax.tree.map(lambda value, unit: value + scale.astype(value.dtype) * unit, total, noise)
