"""The Gaussian mechanism on a sum over records."""

import jax
import jax.numpy as jnp
import optax

from dpinfer.accounting.events import Gaussian
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.clip import clip_records
from dpinfer.types import Key, Tree


def gaussian(clip: float, noise_multiplier: float) -> Mechanism:
    """Clip each record, sum, and add N(0, (noise_multiplier * clip)^2) to every coordinate, once.

    Guarantee: adding or removing one record moves the sum by at most `clip` in L2 norm, replacing one by at
    most 2 `clip`; the event states the noise in units of `clip`.
    """

    def release(key: Key, contributions: Tree) -> Tree:
        total = jax.tree.map(lambda leaf: leaf.sum(axis=0), clip_records(contributions, clip))
        noise = optax.tree.random_like(key, total, jax.random.normal)
        scale = noise_multiplier * clip
        return jax.tree.map(lambda value, unit: value + jnp.asarray(scale, value.dtype) * unit, total, noise)

    return Mechanism(release, Gaussian(noise_multiplier=noise_multiplier))
