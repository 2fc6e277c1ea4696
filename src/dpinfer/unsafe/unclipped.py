"""Noise in units of a bound that nothing enforces, as in the code of DPVI for DP-SGLD. For comparisons alone."""

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import NonPrivate
from dpinfer.clipping.sums import plain_sum
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.gaussian import noisy
from dpinfer.tree import normal_like
from dpinfer.types import Loss, Tree


def unclipped(bound: float, noise_multiplier: float) -> Mechanism:
    """Add the noise of `gaussian` to a sum of gradients that are taken to be within `bound`, but not clipped.

    Nothing is guaranteed: a gradient may be larger. DP-SGLD is run so in the code of DPVI.
    """
    scale = jnp.asarray(noise_multiplier * bound)

    def release(noise: Tree, loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
        return noisy(plain_sum(loss, parameters, examples, mask), noise, scale)

    reason = "gradients are not clipped, so that noise in units of a bound hides nobody whose gradient exceeds it"
    return Mechanism(normal_like, release, NonPrivate(reason=reason), scale)
