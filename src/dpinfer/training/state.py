"""What a training loop passes on from step to step."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.types import Key, Tree


class Batch(NamedTuple):
    """Records of a batch, padded to a size that is the same for all.

    Attributes:
        records: In the shape of the data; padding repeats records.
        mask: Whether an entry is in the batch or padding.
        step: Which step it was drawn for.
        tag: By which that step knows that it was.
    """

    records: Tree
    mask: jax.Array
    step: jax.Array
    tag: jax.Array


class State(NamedTuple):
    """Where training stands, and all that the next step depends on but its records.

    It holds the key of noise and batches: release its parameters alone.

    Attributes:
        parameters: What is trained; they may be released.
        memory: Of the optimiser.
        key: Of noise and batches of all steps.
        step: (int32) how many steps have been taken.
        granted: (int32) how many have been paid for.
        owner: (uint32) which settings they have been paid for with.
    """

    parameters: Tree
    memory: Any
    key: Key
    step: jax.Array
    granted: jax.Array
    owner: jax.Array


def is_traced(tree: Tree) -> bool:
    """Whether values are not known yet: they are being compiled, or mapped over."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))


def is_compiling() -> bool:
    """Whether a function is being traced, so that Python runs once for many runs of its program."""
    return is_traced(jnp.zeros(()))
