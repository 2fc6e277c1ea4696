"""By how much prior and factors miss the posterior that they should make up, along a run."""

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree

LEAST = 1e-30


def curve(key: Key, model: Model, trace: Tree, train: Records, test: Records) -> dict[str, jax.Array]:
    """The norm of the gap in natural parameters, and the exponent of its growth up to each recording.

    The exponent is the slope of log gap over log rounds by least squares; that of a random walk is 1/2.
    """
    del key, model, train, test
    gap = trace["gap"]
    step = jnp.log(jnp.arange(1, gap.size + 1))
    # Where there is no gap there is no growth.
    height = jnp.log(jnp.maximum(gap, LEAST))

    def slope(last: jax.Array) -> jax.Array:
        counted = jnp.arange(gap.size) <= last
        x = step - step.mean(where=counted)
        total = jnp.where(counted, x * x, 0.0).sum()
        return jnp.where(counted, x * height, 0.0).sum() / jnp.where(total > 0, total, 1.0)

    return {"gap": gap, "gap_exponent": jax.vmap(slope)(jnp.arange(gap.size))}
