"""The few verbs for parameter trees that JAX and optax do not have."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.random import normal
from dpinfer.types import Key, Tree


def normal_like(key: Key, tree: Tree) -> Tree:
    """Independent standard normal draws in the shapes of a tree, whose leaves may be shapes alone.

    All leaves are cut from one flat vector: `jax.random.normal` on shapes such as (45, 5, 3) has its innermost
    loop run over the last axis, which takes several times as long on a CPU.
    """
    # A sum of 64 bits with noise of 32 would show its other 32 as they are.
    is_double = any(leaf.dtype == np.float64 for leaf in jax.tree.leaves(tree))
    draw = normal.double if is_double else normal.single
    flat = jax.lax.optimization_barrier(draw(key, size(tree)))
    return cut_from(flat, tree)


def cut_from(flat: jax.Array, tree: Tree) -> Tree:
    """Cut a flat vector into the shapes and types of a tree's leaves, in their order."""
    leaves, structure = jax.tree.flatten(tree)
    sizes = [math.prod(leaf.shape) for leaf in leaves]
    parts = jnp.split(flat, np.cumsum(sizes)[:-1])
    shaped = [part.reshape(leaf.shape).astype(leaf.dtype) for part, leaf in zip(parts, leaves, strict=True)]
    return jax.tree.unflatten(structure, shaped)


def size(tree: Tree) -> int:
    """How many numbers a tree holds."""
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree))
