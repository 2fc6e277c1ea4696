"""Bound what one record can contribute."""

import jax
import jax.numpy as jnp
import optax

from dpinfer.types import Tree


def clip_records(contributions: Tree, clip: float) -> Tree:
    """Scale each record's contribution down to joint L2 norm `clip`, over all leaves together.

    Guarantee: every record's clipped contribution has norm at most `clip`, up to rounding.

    Args:
        contributions: Leaves of shape (n, ...), the leading axis counting records.
        clip: The largest norm, positive and finite.
    """
    norms = jax.vmap(optax.tree.norm)(contributions)
    # Dividing by the larger of both keeps a zero gradient zero, where clip / norm would give 0 * inf.
    factors = clip / jnp.maximum(norms, clip)
    return jax.tree.map(lambda leaf: jnp.einsum("n,n...->n...", factors, leaf), contributions)
