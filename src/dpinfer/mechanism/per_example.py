"""Sums of per-example gradients, each clipped before it is added.

There are two ways to the same sum: book-keeping for networks of our own layers, and one gradient after the other,
`micro_batch` of them at once, for anything else.
"""

import logging
import math
from typing import Literal

import jax
import jax.numpy as jnp
import optax

from dpinfer.mechanism import bookkeeping
from dpinfer.models.layers import Network
from dpinfer.types import Loss, Tree

log = logging.getLogger(__name__)
GRADIENTS = {"cpu": 1 << 24}
"""Bytes of gradients held at once where nobody says how many: on CPUs about what the caches hold."""
GRADIENTS_ELSEWHERE = 1 << 30


def method(loss: Loss) -> Literal["book-keeping", "vmap"]:
    """How the gradients of this loss are clipped."""
    return "book-keeping" if isinstance(loss, Network) else "vmap"


def clipped_sum(
    loss: Loss,
    parameters: Tree,
    examples: Tree,
    mask: jax.Array,
    clip: float | jax.Array,
    micro_batch: int | None = None,
) -> Tree:
    """Sum the gradients of the loss over examples, each scaled down to joint L2 norm `clip` over all leaves.

    Guarantee: adding or removing one example, or flipping its mask, moves the result by at most `clip` in L2 norm,
    up to rounding. A gradient that is not finite counts as zero, so that no example can stop a run.

    Args:
        loss: Scalar function of parameters and one example.
        parameters: What to differentiate by.
        examples: Leaves of shape (n, ...).
        mask: (n,) which examples count.
        clip: The largest norm, positive and finite.
        micro_batch: How many gradients are held in memory at once; by default as many as fit into `GRADIENTS`.
            Book-keeping holds none.
    """
    # Once for every program that is compiled.
    log.info("clipping gradients by %s", method(loss))
    if isinstance(loss, Network):
        return bookkeeping.clipped_sum(loss, parameters, examples, mask, clip)
    return by_vmap(loss, parameters, examples, mask, clip, micro_batch)


def by_vmap(
    loss: Loss,
    parameters: Tree,
    examples: Tree,
    mask: jax.Array,
    clip: float | jax.Array,
    micro_batch: int | None = None,
    grid: float | None = None,
) -> Tree:
    """The same for any loss, by gradients that are taken one by one.

    With a `grid`, a power of two, every clipped gradient is rounded to multiples of it, and the result is their
    exact sum, in 32-bit integers that count the multiples.
    """

    def chunk(part: Tree, counted: jax.Array) -> Tree:
        gradients = jax.vmap(jax.grad(loss), in_axes=(None, 0))(parameters, part)
        norms = jax.vmap(optax.tree.norm)(gradients)
        counted = counted & jnp.isfinite(norms)
        # Dividing by the larger of both keeps a zero gradient zero, where clip / norm would give 0 * inf.
        weights = jnp.where(counted, clip / jnp.maximum(norms, clip), 0.0)
        return jax.tree.map(lambda leaf: added(weights, bookkeeping.of_counted(leaf, counted)), gradients)

    def added(weights: jax.Array, leaf: jax.Array) -> jax.Array:
        weights = weights.astype(leaf.dtype)
        if grid is None:
            # A product with weights, not a sum over scaled gradients: at those XLA is many times slower on CPUs.
            return jnp.tensordot(weights, leaf, axes=1)
        scaled = leaf * (weights / grid).reshape(-1, *(1,) * (leaf.ndim - 1))
        return jnp.rint(scaled).astype(jnp.int32).sum(0, dtype=jnp.int32)

    size = mask.shape[0]
    micro_batch = micro_batch or _fitting(parameters, size)
    if micro_batch >= size:
        return chunk(examples, mask)
    padding = -size % micro_batch
    folded, counted = jax.tree.map(
        # Padding repeats the first example, whose gradient exists; its mask is off.
        lambda leaf: jnp.concatenate([leaf, jnp.repeat(leaf[:1], padding, axis=0)]).reshape(
            -1, micro_batch, *leaf.shape[1:]
        ),
        (examples, mask),
    )
    counted = counted & (jnp.arange(size + padding) < size).reshape(-1, micro_batch)

    def add(total: Tree, part: tuple[Tree, jax.Array]) -> tuple[Tree, None]:
        return jax.tree.map(jnp.add, total, chunk(*part)), None

    like = jax.eval_shape(chunk, *jax.tree.map(lambda leaf: leaf[0], (folded, counted)))
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like)
    return jax.lax.scan(add, nothing, (folded, counted))[0]


def _fitting(parameters: Tree, size: int) -> int:
    """The size of the micro-batches, all about equal, whose gradients fit into the memory set aside for them."""
    each = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(parameters))
    most = GRADIENTS.get(jax.default_backend(), GRADIENTS_ELSEWHERE) // max(each, 1)
    return math.ceil(size / math.ceil(size / max(most, 1))) if size else 1


def plain_sum(loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
    """Sum the gradients of the loss over examples by one backward pass, neither clipped nor held one by one."""

    def losses(at: Tree) -> jax.Array:
        if isinstance(loss, Network):
            return loss.losses(loss.apply(at), examples)
        return jax.vmap(loss, in_axes=(None, 0))(at, examples)

    def total(at: Tree) -> jax.Array:
        return jnp.where(mask, losses(at), 0.0).sum()

    return jax.grad(total)(parameters)
