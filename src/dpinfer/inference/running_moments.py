"""Running moments of a chain: millions of steps added up in single precision without losing the small ones."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.types import Tree


class Sum(NamedTuple):
    """A sum in two parts, by Kahan's method: `high` alone is it to single precision, `high - low` to double."""

    high: Tree
    low: Tree


class RunningMoments(NamedTuple):
    """Sums over the steps after the burn-in.

    Attributes:
        step: Steps taken, those of the burn-in included.
        counted: Steps that the sums are over.
        first: Sum of the parameters.
        second: Sum of their squares.
    """

    step: jax.Array
    counted: jax.Array
    first: Sum
    second: Sum


def zero(parameters: Tree) -> RunningMoments:
    """The moments before the first step."""
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, jnp.float32), parameters)
    return RunningMoments(jnp.asarray(0), jnp.asarray(0), Sum(nothing, nothing), Sum(nothing, nothing))


def add(moments: RunningMoments, parameters: Tree, burn_in: int) -> RunningMoments:
    """Add the parameters after one more step, if the burn-in is over."""
    step = moments.step + 1
    counted = step > burn_in
    values = jax.tree.map(lambda leaf: jnp.where(counted, leaf.astype(jnp.float32), 0.0), parameters)
    squares = jax.tree.map(jnp.square, values)
    return RunningMoments(
        step, moments.counted + counted, plus(moments.first, values), plus(moments.second, squares)
    )


def plus(total: Sum, values: Tree) -> Sum:
    """Add values to a sum.

    XLA keeps the order of additions, without which the lost part would be computed as 0.
    """
    owed = jax.tree.map(lambda value, low: value - low, values, total.low)
    high = jax.tree.map(jnp.add, total.high, owed)
    low = jax.tree.map(lambda new, old, value: (new - old) - value, high, total.high, owed)
    return Sum(high, low)


def mean(total: Sum, count: jax.Array) -> Tree:
    """A sum over its number of terms."""
    return jax.tree.map(lambda high, low: high / count - low / count, total.high, total.low)
