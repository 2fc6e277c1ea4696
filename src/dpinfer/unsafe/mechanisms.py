"""Mechanisms that hide nobody, as papers have them. For comparisons alone.

`unclipped` adds noise in units of a bound that nothing enforces, as in the code of DPVI for DP-SGLD.
`aggregate` clips after aggregation: the update of PyVacy (2019, Eq. 4).
"""

import math
from typing import Literal

import jax
import jax.numpy as jnp
import optax

from dpinfer.accounting.events import NonPrivate
from dpinfer.clipping.sums import plain_sum
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.gaussian import noisy
from dpinfer.tree import normal_like
from dpinfer.types import Loss, Tree

Form = Literal["printed", "code"]


def unclipped(bound: float, noise_multiplier: float) -> Mechanism:
    """Add the noise of `gaussian` to a sum of gradients that are taken to be within `bound`, but not clipped.

    Nothing is guaranteed: a gradient may be larger. DP-SGLD is run so in the code of DPVI.
    """
    scale = jnp.asarray(noise_multiplier * bound)

    def release(noise: Tree, loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
        return noisy(plain_sum(loss, parameters, examples, mask), noise, scale)

    reason = "gradients are not clipped, so that noise in units of a bound hides nobody whose gradient exceeds it"
    return Mechanism(normal_like, release, NonPrivate(reason=reason), scale)


def aggregate(clip: float, noise_multiplier: float, expected_batch: float, form: Form) -> Mechanism:
    """Clip the mean gradient of a batch, not that of each record, and add noise to it.

    Args:
        clip: Largest norm of the mean.
        noise_multiplier: What the paper calls sigma.
        expected_batch: B, which the mean divides by.
        form: Standard deviation of the noise on the mean: sigma clip / sqrt(B) as printed, sigma clip / B in code.
    """
    scale = noise_multiplier * clip / (math.sqrt(expected_batch) if form == "printed" else expected_batch)
    # Replacing a record may turn a clipped mean around.
    effective = scale / (2 * clip)
    reason = (
        "the mean of a batch is clipped, not what each record adds to it: one record may move it by two clips, "
        f"and the noise is {effective:.2g} of that"
    )

    def release(noise: Tree, loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
        total = plain_sum(loss, parameters, examples, mask)
        # The clipped and noisy mean, times B: a mechanism releases sums.
        return clipped_and_noisy(total, noise, clip * expected_batch, scale * expected_batch)

    return Mechanism(normal_like, release, NonPrivate(reason=reason), jnp.asarray(scale * expected_batch))


def clipped_and_noisy(gradient: Tree, noise: Tree, clip: float, noise_std: float) -> Tree:
    """Scale a gradient down to norm `clip` as a whole, and add the noise times `noise_std`."""
    factor = clip / jnp.maximum(optax.tree.norm(gradient), clip)
    return jax.tree.map(lambda value, unit: factor * value + noise_std * unit, gradient, noise)
