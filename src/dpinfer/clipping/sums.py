"""Sums of per-example gradients, each clipped before it is added.

There are two ways to the same sum: by the plan of a loss (`plan`), which holds no example's gradient by a matrix;
and by `vmap`, which holds all of them, where there are few parameters.
"""

import logging
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dpinfer.clipping import run
from dpinfer.clipping.norms import norms_of, squared, summed
from dpinfer.clipping.plan import ClippingPlan, plan_of
from dpinfer.clipping.program import traced
from dpinfer.errors import InputError
from dpinfer.tree import size as size_of
from dpinfer.types import Loss, Tree

log = logging.getLogger(__name__)
GRADIENTS = {"cpu": 1 << 24}
"""Bytes of gradients held at once where nobody says how many: on CPUs about what the caches hold."""
GRADIENTS_ELSEWHERE = 1 << 30
FEW = 1 << 12
"""Up to so many parameters, gradients are taken one by one."""

LEAST_CLIP = 1e-12
"""Squares of much shorter gradients are zero in 32 bits, so that nothing would be clipped."""
LEAST_BYTES = 4
"""Of a number of which norms are taken."""


class Clipped(NamedTuple):
    """A clipped sum, with what it was made of; of these, the sum alone has a bounded sensitivity.

    Attributes:
        total: Sum over examples of their clipped gradients, in the structure of the parameters.
        losses: (batch,) the loss of each example.
        norms: (batch,) the norm of each example's gradient before clipping, none of them too small; or, where
            clips are given by block, a norm for each block, in the structure of the clips.
    """

    total: Tree
    losses: jax.Array
    norms: Tree


def clipped_grad(
    loss: Loss, clip: Tree, *, micro_batch: int | None = None, has_aux: bool = False
) -> Callable[..., Tree]:
    """The sum of per-example gradients of a loss, each scaled down to norm `clip`: what `jax.grad` is to a sum.

        total = clipped_grad(loss, clip=1.0)(parameters, examples)

    Any loss of one example in JAX will do, with any library's network. A loss sees one example, so that examples
    cannot be coupled. Where parameters are in matrices, no example's gradient is ever held: see `explain`.

    Guarantee: adding or removing one example moves the sum by at most `clip` in L2 norm over all parameters,
    replacing one by at most twice that, up to the rounding of the sum itself; with clips by block, by the norm of
    the clips (`sensitivity`). An example whose gradient is not finite counts as zero.

    | clip     | meaning                                                            |
    |----------|--------------------------------------------------------------------|
    | 1.0      | joint norm over all parameters                                     |
    | a tree   | a prefix of the parameters' tree: each clip is for what is below it |
    | below 1e-12, infinite, not positive | refused                                 |

    Args:
        loss: Scalar function of parameters and one example.
        clip: The largest norm, positive and finite; or a clip for each block of parameters.
        micro_batch: How many examples are worked on at once; by default all, unless their gradients by single
            parameters would take too much memory.
        has_aux: Whether to return losses and norms as well, as `Clipped`. They are not private.

    Returns:
        A function of parameters, examples, whose leaves are (batch, ...), and optionally `mask`, (batch,) which
        examples count; it can be compiled, mapped and scanned.
    """
    for bound in jax.tree.leaves(clip):
        if not isinstance(bound, jax.core.Tracer):
            require_clip(float(bound))

    def clipped(parameters: Tree, examples: Tree, mask: jax.Array | None = None) -> Tree:
        sizes = {(*jnp.shape(leaf), None)[0] for leaf in jax.tree.leaves(examples)}
        if len(sizes) != 1 or None in sizes:
            theirs = ", ".join(sorted(map(str, sizes))) or "none"
            raise InputError(f"the leaves of examples should share a leading axis, but theirs are {theirs}")
        counted = jnp.ones(sizes.pop(), bool) if mask is None else mask
        found = clipped_sum(loss, parameters, examples, counted, clip, micro_batch)
        return found if has_aux else found.total

    return clipped


def require_clip(clip: float) -> None:
    """Refuse a clip to which gradients cannot be scaled down."""
    if not 0 < clip < math.inf:
        raise InputError(f"the clip is {clip}, but should be positive and finite")
    if clip < LEAST_CLIP:
        raise InputError(f"the clip is {clip}, but below {LEAST_CLIP:g} it cannot be enforced in 32-bit numbers")


def require_precision(parameters: Tree) -> None:
    """Refuse parameters, and so gradients, of 16 bits: small squares are lost, and norms come out short."""
    for leaf in jax.tree.leaves(parameters):
        if np.dtype(leaf.dtype).itemsize < LEAST_BYTES:
            raise InputError(
                f"the parameters hold {leaf.dtype}, in which the norm of a gradient cannot be bounded: keep them "
                "in float32, and let the loss cast them"
            )


def sensitivity(clip: Tree) -> float:
    """The most by which adding or removing one example moves a clipped sum: the norm of all clips."""
    return math.hypot(*jax.tree.leaves(clip))


def clipped_sum(
    loss: Loss,
    parameters: Tree,
    examples: Tree,
    mask: jax.Array,
    clip: Tree,
    micro_batch: int | None = None,
) -> Clipped:
    """Sum the gradients of the loss over examples, each scaled down to norm `clip`; see `clipped_grad`."""
    require_precision(parameters)
    if size_of(parameters) > FEW:
        try:
            plan = planned(loss, parameters, examples)
            chunk = by_plan(plan, parameters, clip)
            return in_parts(chunk, examples, mask, micro_batch or fitting(run.held(plan), mask.shape[0]))
        except Exception as error:
            # Whatever JAX may change in how it writes programs down: the sum is the same, if slower.
            log.warning("gradients are clipped one by one, as the loss could not be taken apart: %r", error)
    chunk = by_gradients(loss, parameters, clip)
    return in_parts(chunk, examples, mask, micro_batch or fitting(parameters, mask.shape[0]))


def planned(loss: Loss, parameters: Tree, examples: Tree) -> ClippingPlan:
    """The plan of a loss; of parameters and examples it uses the shapes alone."""
    like, one = (
        jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[axes:], leaf.dtype), tree)  # noqa: B023
        for axes, tree in ((0, parameters), (1, examples))
    )
    return plan_of(traced(loss, like, one), len(jax.tree.leaves(parameters)))


Chunk = Callable[[Tree, jax.Array], Clipped]
"""The clipped sum of some examples, of which those of a mask count."""


def by_plan(plan: ClippingPlan, parameters: Tree, clip: Tree) -> Chunk:
    """One forward and one backward pass; see `plan`."""
    leaves, structure = _flatten(parameters)
    numbered = dict(zip(plan.leaves, leaves, strict=True))
    closed = {leaf: own for leaf, own in numbered.items() if leaf not in plan.opened}
    parted = sorted(plan.parted)
    values, pull = jax.vjp(lambda own: run.alone(plan, own, parted), closed)
    clips, of_blocks = _flatten(clip)
    blocks = [frozenset(jax.tree.leaves(own)) for own in of_blocks.flatten_up_to(structure.unflatten(plan.leaves))]
    needed = [norms_of(plan, closed, lambda own: pull(own)[0], block) for block in blocks]

    def pulled(sums: dict[int, Any]) -> dict[int, Any]:
        by_leaf = pull({value: sums[value].astype(values[value].dtype) for value in parted})[0]
        return by_leaf | {leaf: sums[leaf] for leaf in plan.opened}

    def chunk(examples: Tree, mask: jax.Array) -> Clipped:
        found = run.gradients_of(plan, values, numbered, jax.tree.leaves(examples), mask.shape[0])
        squares = [squared(plan, own, found, block) for own, block in zip(needed, blocks, strict=True)]
        counted = mask & jnp.isfinite(sum(squares))
        finite = found.of_counted(counted)
        total = dict[int, Any]()
        for block, square, bound in zip(blocks, squares, clips, strict=True):
            weights = _weights(jnp.sqrt(square), bound, counted)
            by_leaf = pulled(summed(plan, finite, weights))
            total |= {leaf: by_leaf[leaf] for leaf in block}
        return Clipped(
            structure.unflatten(total[leaf] for leaf in plan.leaves),
            found.losses,
            of_blocks.unflatten(map(jnp.sqrt, squares)),
        )

    return chunk


def _flatten(tree: Tree) -> tuple[list[Any], Any]:
    return jax.tree.flatten(tree)


def _weights(norms: jax.Array, clip: Any, counted: jax.Array) -> jax.Array:
    """By how much each gradient is scaled down."""
    # Dividing by the larger of both keeps a zero gradient zero, where clip / norm would give 0 * inf.
    return jnp.where(counted, clip / jnp.maximum(norms, clip), 0.0)


def weighed(weights: jax.Array, leaf: jax.Array) -> jax.Array:
    """The weighted sum of gradients."""
    # A product with weights, not a sum over scaled gradients: at those XLA is many times slower on CPUs.
    return jnp.tensordot(weights, leaf, axes=1)


def by_gradients(loss: Loss, parameters: Tree, clip: Tree, add: Callable[..., jax.Array] = weighed) -> Chunk:
    """Gradients one by one, with `add(weights, gradients)` to add them up."""
    clips, of_blocks = _flatten(clip)

    def chunk(examples: Tree, mask: jax.Array) -> Clipped:
        losses, gradients = jax.vmap(jax.value_and_grad(loss), in_axes=(None, 0))(parameters, examples)
        blocks = of_blocks.flatten_up_to(gradients)
        norms = [jax.vmap(optax.tree.norm)(block) for block in blocks]
        counted = mask & jnp.isfinite(sum(norms))
        added = [
            jax.tree.map(lambda leaf: finite(_weights(own, bound, counted), leaf, counted), block)  # noqa: B023
            for block, own, bound in zip(blocks, norms, clips, strict=True)
        ]
        total = jax.tree.unflatten(jax.tree.structure(parameters), jax.tree.leaves(of_blocks.unflatten(added)))
        return Clipped(total, losses, of_blocks.unflatten(norms))

    def finite(weights: jax.Array, leaf: jax.Array, counted: jax.Array) -> jax.Array:
        return add(weights.astype(leaf.dtype), run.of_counted(leaf, counted))

    return chunk


def in_parts(chunk: Chunk, examples: Tree, mask: jax.Array, micro_batch: int) -> Clipped:
    """Clipped sums of some examples after the other, added up."""
    size = mask.shape[0]
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

    def add(total: Tree, part: tuple[Tree, jax.Array]) -> tuple[Tree, tuple[jax.Array, Tree]]:
        own = chunk(*part)
        return jax.tree.map(jnp.add, total, own.total), (own.losses, own.norms)

    like = jax.eval_shape(chunk, *jax.tree.map(lambda leaf: leaf[0], (folded, counted))).total
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like)
    total, told = jax.lax.scan(add, nothing, (folded, counted))
    losses, norms = jax.tree.map(lambda leaf: leaf.reshape(-1)[:size], told)
    return Clipped(total, losses, norms)


def fitting(held: Tree, size: int) -> int:
    """The size of the micro-batches, all about equal, whose gradients fit into the memory set aside for them."""
    each = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(held))
    most = GRADIENTS.get(jax.default_backend(), GRADIENTS_ELSEWHERE) // max(each, 1)
    return math.ceil(size / math.ceil(size / max(most, 1))) if size else 1


def plain_sum(loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
    """Sum the gradients of the loss over examples by one backward pass, neither clipped nor held one by one."""

    def total(at: Tree) -> jax.Array:
        return jnp.where(mask, jax.vmap(loss, in_axes=(None, 0))(at, examples), 0.0).sum()

    return jax.grad(total)(parameters)
