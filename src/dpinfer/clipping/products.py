"""Products of an example with a value of parameters alone, whose gradients need not be held for each example.

Each of these operations is, in the right order of axes, signal = a @ v for `groups` independent matrices v of
shape (fan_in, fan_out), with a of shape (groups, positions, fan_in). The gradient of one example by v is a^T g,
where g is the gradient of the loss by the signal: norms and weighted sums follow from a and g.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import GatherScatterMode

from dpinfer.clipping.program import Equation, FlatProgram


class Product(NamedTuple):
    """An equation as a product.

    Attributes:
        value: Which of its inputs is of parameters alone.
        groups: How many matrices there are.
        positions: How many rows of each an example has.
        fan_in: Rows of a matrix.
        fan_out: Columns of a matrix.
        left: `(other input, of one example) -> a` (groups, positions, fan_in); or, for look-ups, (positions,)
            which row of the one matrix each position takes.
        right: `(gradient by the output, of one example; other input) -> g` (groups, positions, fan_out).
        matrices: `value -> v` (groups, fan_in, fan_out).
        back: The inverse of `matrices`.
        looks_up: Whether it is a look-up.
    """

    value: int
    groups: int
    positions: int
    fan_in: int
    fan_out: int
    left: Callable[[Any], jax.Array]
    right: Callable[[jax.Array, Any], jax.Array]
    matrices: Callable[[Any], Any]
    back: Callable[[jax.Array], jax.Array]
    looks_up: bool = False


def product_of(equation: Equation, program: FlatProgram, value: int) -> Product | None:
    """The product that an equation is with its input number `value`; None where it is none."""
    rule = RULES.get(equation.name)
    shapes = [program.avals[given].shape for given in equation.inputs]
    if rule is None or not all(map(program.is_real, (equation.inputs[value], equation.outputs[0]))):
        return None
    return rule(equation.params, value, shapes, program.avals[equation.outputs[0]].shape)


def _dot(params: dict[str, Any], value: int, shapes: list[Any], _: tuple[int, ...]) -> Product:
    contracted, together = params["dimension_numbers"]
    other = 1 - value
    free = [
        [axis for axis in range(len(shapes[side])) if axis not in (*contracted[side], *together[side])]
        for side in (0, 1)
    ]
    groups, fan_in, fan_out = (_size(shapes[value], axes[value]) for axes in (together, contracted, free))
    positions = _size(shapes[other], free[other])
    order = (*together[value], *contracted[value], *free[value])

    def left(x: jax.Array) -> jax.Array:
        moved = x.transpose(*together[other], *free[other], *contracted[other])
        return moved.reshape(groups, positions, fan_in)

    def right(signal: jax.Array, _: Any) -> jax.Array:
        if value == 1:
            return signal.reshape(groups, positions, fan_out)
        return signal.reshape(groups, fan_out, positions).swapaxes(1, 2)

    matrices, back = _between(shapes[value], order, (groups, fan_in, fan_out))
    return Product(value, groups, positions, fan_in, fan_out, left, right, matrices, back)


def _size(shape: tuple[int, ...], axes: Sequence[int]) -> int:
    return math.prod(shape[axis] for axis in axes)


def _between(shape: tuple[int, ...], order: tuple[int, ...], matrices: tuple[int, int, int]) -> Any:
    """From a value, its axes taken in that order, to matrices and back."""
    moved = [shape[axis] for axis in order]
    return (
        lambda v: v.transpose(order).reshape(matrices),
        lambda v: v.reshape(moved).transpose(tuple(np.argsort(order))),
    )


def _convolution(params: dict[str, Any], value: int, shapes: list[Any], out: tuple[int, ...]) -> Product | None:
    if value != 1 or params["batch_group_count"] != 1:
        return None
    # Batch, then height and width or more, channels last: patches are then joined from whole rows of channels.
    sources, weights, results = params["dimension_numbers"]
    image, made = ((spec[0], *spec[2:], spec[1]) for spec in (sources, results))
    kernel = (*weights[2:], weights[1], weights[0])
    groups = params["feature_group_count"]
    *window, channels, outputs = (shapes[1][axis] for axis in kernel)
    batch, *places, _ = (out[axis] for axis in made)
    fan_out = outputs // groups
    positions, fan_in = batch * math.prod(places), math.prod(window) * channels

    def left(x: jax.Array) -> jax.Array:
        found = patches(x.transpose(image), window, places, params)
        # (batch, places, window, channels of all groups) -> (groups, batch and places, window and channels)
        parts = found.reshape(positions, math.prod(window), groups, channels)
        return parts.transpose(2, 0, 1, 3).reshape(groups, positions, fan_in)

    def right(signal: jax.Array, _: Any) -> jax.Array:
        return signal.transpose(made).reshape(positions, groups, fan_out).swapaxes(0, 1)

    def matrices(v: Any) -> Any:
        return v.transpose(kernel).reshape(fan_in, groups, fan_out).swapaxes(0, 1)

    def back(v: jax.Array) -> jax.Array:
        parts = v.swapaxes(0, 1).reshape(*window, channels, outputs)
        return parts.transpose(tuple(np.argsort(kernel)))

    return Product(value, groups, positions, fan_in, fan_out, left, right, matrices, back)


def patches(x: jax.Array, window: list[int], places: list[int], params: dict[str, Any]) -> jax.Array:
    """(batch, ..., channels) -> (batch, places, window and channels): what a kernel sees at each place."""
    padding = [
        (low, high, step - 1) for (low, high), step in zip(params["padding"], params["lhs_dilation"], strict=True)
    ]
    whole = jax.lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), *padding, (0, 0, 0)])
    strides, shifted = params["window_strides"], []
    for offset in np.ndindex(*window):
        start = [at * step for at, step in zip(offset, params["rhs_dilation"], strict=True)]
        stop = [at + (n - 1) * step + 1 for at, n, step in zip(start, places, strides, strict=True)]
        limits = (x.shape[0], *stop, x.shape[-1])
        shifted.append(jax.lax.slice(whole, (0, *start, 0), limits, (1, *strides, 1)))
    return jnp.concatenate(shifted, axis=-1)


def _look_up(params: dict[str, Any], value: int, shapes: list[Any], out: tuple[int, ...]) -> Product | None:
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    table, indices = shapes
    rows = tuple(numbers.start_index_map)
    whole = [axis for axis in range(len(table)) if axis not in rows]
    is_plain = (
        value == 0
        and not numbers.operand_batching_dims
        and sorted(rows) == sorted(numbers.collapsed_slice_dims)
        and all(sizes[axis] == table[axis] for axis in whole)
    )
    if not is_plain:
        return None
    limits = np.array([table[axis] for axis in rows])
    strides = np.array([math.prod(limits[n + 1 :]) for n in range(len(rows))])
    fan_in, fan_out = int(np.prod(limits)), math.prod(table[axis] for axis in whole)
    positions = math.prod(indices[:-1])
    offsets = tuple(numbers.offset_dims)
    order = (*(axis for axis in range(len(out)) if axis not in offsets), *offsets)

    def left(index: jax.Array) -> jax.Array:
        return (jnp.clip(index, 0, limits - 1) * strides).sum(-1).reshape(positions)

    def right(signal: jax.Array, index: jax.Array) -> jax.Array:
        found = signal.transpose(order).reshape(1, positions, fan_out)
        if params["mode"] != GatherScatterMode.FILL_OR_DROP:
            return found
        within = ((index >= 0) & (index < limits)).all(-1).reshape(1, positions, 1)
        return jnp.where(within, found, 0)

    matrices, back = _between(table, (*rows, *whole), (1, fan_in, fan_out))
    return Product(value, 1, positions, fan_in, fan_out, left, right, matrices, back, looks_up=True)


RULES: dict[str, Callable[..., Product | None]] = {
    "dot_general": _dot,
    "conv_general_dilated": _convolution,
    "gather": _look_up,
}


class Factors(NamedTuple):
    """The two factors of every example's gradient by matrices.

    Attributes:
        a: (batch, groups, positions, fan_in), or (batch, positions) rows of look-ups.
        g: (batch, groups, positions, fan_out).
    """

    a: jax.Array
    g: jax.Array

    @property
    def looks_up(self) -> bool:
        """Whether `a` tells rows."""
        return self.a.ndim == 2

    def dense(self, fan_in: int) -> "Factors":
        """The same with rows written out as zeros and a one."""
        if not self.looks_up:
            return self
        return Factors(jax.nn.one_hot(self.a, fan_in, dtype=self.g.dtype)[:, None], self.g)

    def swapped(self) -> "Factors":
        """The factors of the transposed matrices."""
        return Factors(self.g, self.a)

    def multiplied(self) -> "Multiplied":
        """Every example's gradient itself."""
        lengths = (jnp.linalg.norm(self.a, axis=3) * jnp.linalg.norm(self.g, axis=3)).sum((1, 2))
        return Multiplied(jnp.einsum("bgpk,bgpn->bgkn", self.a, self.g), self.g.shape[2] * lengths)


class Multiplied(NamedTuple):
    """Every example's gradient by matrices, where that is cheaper than its factors.

    Attributes:
        m: (batch, groups, fan_in, fan_out).
        rounding: (batch,) half ulps by which its norm may be off.
    """

    m: jax.Array
    rounding: jax.Array


def best_form(factors: Factors, weighed: bool, fan_in: int) -> Factors | Multiplied:
    """The form in which norms and sums are the least work.

    Args:
        factors: The factors.
        weighed: Whether the numbers of a gradient count differently in its norm.
        fan_in: Rows of a matrix.
    """
    positions, fan_out = factors.g.shape[2:]
    if positions == 1 or (not weighed and gram_is_smaller(positions, fan_in, fan_out, factors.looks_up)):
        return factors
    return factors.dense(fan_in).multiplied()


def gram_is_smaller(positions: int, fan_in: int, fan_out: int, looks_up: bool) -> bool:
    """Whether Gram matrices of positions take less work than every example's product."""
    if looks_up:
        return positions**2 <= fan_in * fan_out
    # A product saves another one later, but is written and read several times.
    return positions**2 * (fan_in + fan_out) <= PASSES * fan_in * fan_out


PASSES = 30
"""Multiplications that take as long as reading and writing a number a few times: measured on CPUs."""


def weighted_sum(form: Factors | Multiplied, weights: jax.Array, fan_in: int) -> jax.Array:
    """sum_i weights_i a_i^T g_i: (groups, fan_in, fan_out), by one product."""
    if isinstance(form, Multiplied):
        return jnp.tensordot(weights.astype(form.m.dtype), form.m, axes=1)
    a, g = form
    weighed = g * weights[:, None, None, None].astype(g.dtype)
    if form.looks_up:
        rows = weighed.reshape(-1, g.shape[-1])
        return jnp.zeros((fan_in, g.shape[-1]), g.dtype).at[a.reshape(-1)].add(rows)[None]
    if a.shape[1] == 1:
        return (a.reshape(-1, a.shape[-1]).T @ weighed.reshape(-1, g.shape[-1]))[None]
    return jnp.einsum("bgpk,bgpn->gkn", a, weighed)


def against(form: Factors | Multiplied, matrices: jax.Array) -> jax.Array:
    """(batch,) inner products of every example's gradient with the same matrices."""
    if isinstance(form, Multiplied):
        return jnp.einsum("bgkn,gkn->b", form.m, matrices)
    a, g = form
    seen = matrices[0][a][:, None] if form.looks_up else jnp.einsum("bgpk,gkn->bgpn", a, matrices)
    return (seen * g).sum((1, 2, 3))


def squared_norms(form: Factors | Multiplied, weights: jax.Array | None, fan_in: int) -> jax.Array:
    """(batch,) upper bounds on the squared norms of a_i^T g_i, each number of it weighed by `weights`, or by 1.

    What positions contribute may cancel, of which rounding leaves a rest. With S = sum_p |a_p| |g_p|, half an ulp
    u and any order of summation, the Gram form errs by at most (fan_in + fan_out + 2 positions + 2) u S^2, and a
    norm by the products by positions u S; what is added up without cancelling errs by a share of the number of
    terms times u. That is added, so that no norm is too small.
    """
    if isinstance(form, Multiplied):
        return _of_products(form, weights)
    half_ulp, (groups, positions, fan_out) = half_ulp_of(form.g), form.g.shape[1:]
    terms = (fan_in + 2 * fan_out + groups + 8) * half_ulp
    if positions == 1:
        return (1 + terms) * _of_outer_products(form, weights)
    if weights is not None:
        return _of_products(form.dense(fan_in).multiplied(), weights)
    lengths = jnp.linalg.norm(form.g, axis=3)
    if not form.looks_up:
        lengths = lengths * jnp.linalg.norm(form.a, axis=3)
    grams = _gram(form), jnp.einsum("bgpc,bgqc->bgpq", form.g, form.g)
    # In two rounds, whose rounding adds up to less than that of one.
    total = jnp.einsum("bgpq,bgpq->bgp", *grams).sum((1, 2))
    error = (fan_in + fan_out + 2 * positions + 2) * half_ulp * jnp.square(lengths.sum((1, 2)))
    return jnp.maximum(total, 0) + terms * jnp.abs(total) + error


def half_ulp_of(x: jax.Array) -> float:
    """Half the distance of 1 to the next larger number: the largest relative error of one operation."""
    info: Any = jnp.finfo(x.dtype)  # type: ignore[no-untyped-call]
    return float(info.eps) / 2


def _of_products(form: Multiplied, weights: jax.Array | None) -> jax.Array:
    half_ulp, size = half_ulp_of(form.m), form.m[0].size
    squares = jnp.square(form.m) if weights is None else jnp.square(form.m) * weights
    most = 1.0 if weights is None else jnp.sqrt(weights.max())
    norms = jnp.sqrt(squares.sum((1, 2, 3))) * (1 + size * half_ulp)
    return jnp.square(norms + half_ulp * most * form.rounding)


def _of_outer_products(form: Factors, weights: jax.Array | None) -> jax.Array:
    """For one position."""
    a, g = form
    squares = jnp.square(g)[:, :, 0]
    if weights is None:
        sizes = squares.sum(2)
        return (sizes if form.looks_up else jnp.square(a)[:, :, 0].sum(2) * sizes).sum(1)
    if form.looks_up:
        seen = weights[0][a[:, 0]][:, None]
    else:
        seen = jnp.einsum("bgk,gkn->bgn", jnp.square(a)[:, :, 0], weights)
    return (seen * squares).sum((1, 2))


def _gram(form: Factors) -> jax.Array:
    """(batch, groups, positions, positions) inner products of rows of a."""
    a = form.a
    if form.looks_up:
        return (a[:, None, :, None] == a[:, None, None, :]).astype(form.g.dtype)
    return jnp.einsum("bgpk,bgqk->bgpq", a, a)
