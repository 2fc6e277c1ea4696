"""Norms of every example's gradient by the parameters, and weighted sums, of what a run by the plan has found."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.clipping.origins import NOWHERE
from dpinfer.clipping.plan import ClippingPlan, Tie
from dpinfer.clipping.products import Factors, against, best_form, half_ulp_of, squared_norms, weighted_sum
from dpinfer.clipping.run import Gradients, Values, alone


class Norms(NamedTuple):
    """What norms need of the parameters, besides every example's gradients.

    Attributes:
        weights: By value, what each number's square counts in the norm of a gradient by parameters; None for 1.
        directions: For each number of each direction its value, its place there, and its gradient by parameters.
        tangents: For each of them, by value, how values move along that gradient.
    """

    weights: Values
    directions: list[tuple[int, int, Values]]
    tangents: list[Values]


def norms_of(plan: ClippingPlan, leaves: Values, pull: Any, block: frozenset[int]) -> Norms:
    """What norms over the parameters of a block need.

    Args:
        plan: The plan.
        leaves: Parameters that are not opened.
        pull: From gradients by `plan.parted` to those by parameters.
        block: Numbers of parameters.
    """
    weights = {value: _weights(plan, leaves, value, block) for value in plan.parted - {*plan.directions}}
    directions, tangents = [], []
    for value in plan.directions:
        for place in range(plan.program.size(value)):
            gradient = _within(pull(_lone(plan, value, place)), block)
            # Values that share no parameter with it do not move.
            near = [own for own in sorted(weights) if plan.origins[own].keys() & plan.origins[value].keys()]
            _, moved = jax.jvp(partial(alone, plan, wanted=near), (leaves,), (gradient,))
            directions.append((value, place, gradient))
            tangents.append(moved)
    return Norms(weights, directions, tangents)


def _within(gradient: Values, block: frozenset[int]) -> Values:
    return {leaf: own if leaf in block else jnp.zeros_like(own) for leaf, own in gradient.items()}


def _lone(plan: ClippingPlan, value: int, place: int) -> Values:
    """Zeros for all of `plan.parted`, but a one at one place."""
    avals = plan.program.avals
    zeros = {own: jnp.zeros(avals[own].shape, avals[own].dtype) for own in sorted(plan.parted)}
    return zeros | {value: zeros[value].ravel().at[place].set(1).reshape(avals[value].shape)}


def _weights(plan: ClippingPlan, leaves: Values, value: int, block: frozenset[int]) -> Any:
    """The sum over parameters of the squared entries of the Jacobian in each row; None where all are 1."""
    if plan.is_plain(value, block):
        return None
    total: Any = jnp.zeros(plan.program.avals[value].shape)
    for leaf, trail in plan.origins[value].items():
        assert trail is not None
        if leaf in block:
            slopes = (trail.layout(plan.program.avals[leaf].shape) != NOWHERE) if trail.exact else None
            total = total + jnp.square(_slopes(plan, leaves, value, leaf) if slopes is None else slopes)
    return total


def _slopes(plan: ClippingPlan, leaves: Values, value: int, leaf: int) -> Any:
    """How each number of a value moves with the one number of a parameter that it follows from."""

    def by(own: Any) -> Any:
        return alone(plan, {**leaves, leaf: own}, [value])[value]

    return jax.jvp(by, (leaves[leaf],), (jnp.ones_like(leaves[leaf]),))[1]


def squared(plan: ClippingPlan, norms: Norms, found: Gradients, block: frozenset[int]) -> jax.Array:
    """(batch,) squared norms of gradients by the parameters of a block, none of them too small."""
    ties = [tie for tie in plan.ties if _touches(plan, tie, block)]
    total = sum((_of_tie(plan, norms, found, tie) for tie in ties), jnp.zeros(()))
    for value in plan.copies:
        if block & plan.origins[value].keys():
            total = total + _of_copy(found.copies[value], norms.weights[value])
    for leaf in plan.opened & block:
        total = total + _of_copy(found.copies[leaf], None)
    return _with_directions(plan, norms, found, total) if norms.directions else total


def _touches(plan: ClippingPlan, tie: Tie, block: frozenset[int]) -> bool:
    return any(block & plan.origins[plan.taps[number].value].keys() for number in tie.taps)


def _of_copy(gradient: jax.Array, weights: Any) -> jax.Array:
    squares = jnp.square(gradient) if weights is None else jnp.square(gradient) * weights
    count = squares.size // squares.shape[0]
    return squares.reshape(squares.shape[0], -1).sum(1) * (1 + count * half_ulp_of(squares))


def _of_tie(plan: ClippingPlan, norms: Norms, found: Gradients, tie: Tie) -> jax.Array:
    taps = [plan.taps[number] for number in tie.taps]
    first = taps[0].product
    weights = norms.weights[taps[0].value] if len({tap.value for tap in taps}) == 1 else None
    matrices = None if weights is None else first.matrices(weights)
    if len(taps) == 1:
        return squared_norms(found.factors[tie.taps[0]], matrices, first.fan_in)
    parts = [_turned(plan, found, *own) for own in zip(tie.taps, tie.swapped, strict=True)]
    joined = Factors(*(jnp.concatenate(part, axis=2) for part in zip(*parts, strict=True)))
    return squared_norms(best_form(joined, weights is not None, first.fan_in), matrices, first.fan_in)


def _turned(plan: ClippingPlan, found: Gradients, number: int, swapped: bool) -> Factors:
    """The factors of a tap, as those of the first one that it is tied to."""
    own = found.factors[number]
    assert isinstance(own, Factors)
    dense = own.dense(plan.taps[number].product.fan_in)
    return dense.swapped() if swapped else dense


def _with_directions(plan: ClippingPlan, norms: Norms, found: Gradients, total: jax.Array) -> jax.Array:
    """|r + sum_l y_l u_l|^2 of what is known of |r|^2, with a bound on the rounding of what may cancel."""
    lengths = [
        found.copies[value].reshape(-1, plan.program.size(value))[:, place] for value, place, _ in norms.directions
    ]
    sizes = jnp.sqrt(total)
    whole, reach = total, sizes
    for number, (_, _, own) in enumerate(norms.directions):
        whole = whole + 2 * lengths[number] * _along(plan, norms.tangents[number], found)
        reach = reach + jnp.abs(lengths[number]) * jnp.sqrt(_inner(own, own))
        for other, (_, _, gradient) in enumerate(norms.directions):
            whole = whole + lengths[number] * lengths[other] * _inner(own, gradient)
    terms = 16 + max(
        [tap.product.fan_in + tap.positions * tap.product.fan_out * tap.product.groups for tap in plan.taps]
        + [plan.program.size(value) for value in (*plan.copies, *plan.leaves)]
    )
    half_ulp = half_ulp_of(whole)
    return jnp.maximum(whole, 0) + terms * half_ulp * jnp.square(reach)


def _along(plan: ClippingPlan, tangents: Values, found: Gradients) -> jax.Array:
    """(batch,) inner products of gradients, but for directions, with one gradient by parameters."""
    taps = [
        against(own, tap.product.matrices(tangents[tap.value]))
        for tap, own in zip(plan.taps, found.factors, strict=True)
        if tap.value in tangents
    ]
    copies = [
        (found.copies[value] * tangents[value]).reshape(found.losses.shape[0], -1).sum(1)
        for value in plan.copies
        if value in tangents
    ]
    return sum(taps + copies, jnp.zeros(()))


def _inner(one: Values, other: Values) -> jax.Array:
    return sum((jnp.vdot(one[leaf], other[leaf]) for leaf in one), jnp.zeros(()))


def summed(plan: ClippingPlan, found: Gradients, weights: jax.Array) -> Values:
    """The weighted sum of gradients, by `plan.parted` and by opened parameters."""
    sums: Values = {
        value: jnp.tensordot(weights.astype(own.dtype), own, axes=1) for value, own in found.copies.items()
    }
    for tap, factors in zip(plan.taps, found.factors, strict=True):
        own = tap.product.back(weighted_sum(factors, weights, tap.product.fan_in))
        sums[tap.value] = sums[tap.value] + own if tap.value in sums else own
    return sums
