"""Made-up numbers in given shapes, on which programs are tried before they see a record."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.errors import InputError
from dpinfer.types import Tree

LOW, HIGH = 0.1, 0.9
"""Numbers between these are in the support of most distributions."""


def like(tree: Tree, seed: int, *front: int) -> Tree:
    """Arrays in the shapes of a tree, with more axes in front: numbers from 0.1 to 0.9, whole ones 0 or 1."""
    source = np.random.default_rng(seed)

    def array(leaf: Any) -> np.ndarray:
        shape = (*front, *leaf.shape)
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            raise InputError("records hold random keys, for which none can be made up")
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            return source.uniform(LOW, HIGH, shape).astype(leaf.dtype)
        return source.integers(0, 2, shape).astype(leaf.dtype)

    return jax.tree.map(array, tree)
