"""Optimisers by name: what they see of the data is the released gradient alone.

There is AdaGrad that forgets, in the two ways of DPVI's released code, as optax transformations.

AdaGrad divides the step on every coordinate by the root of the sum of its squared gradients so far; under noise
that sum grows for ever. Both of these let the steps stay as large as at the start.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.errors import InputError
from dpinfer.inference.names import OptimiserName

PERIOD = 10


class Memory(NamedTuple):
    """Steps taken so far, and squared gradients: of the last steps, or their sum."""

    taken: jax.Array
    squares: Any


def adagrad_window(
    learning_rate: float, period: int = PERIOD, offset: float = 0.1
) -> optax.GradientTransformationExtraArgs:
    """Sum the squares of the last `period` gradients alone: -learning_rate g / sqrt(sum + offset)."""

    def init(parameters: optax.Params) -> Memory:
        squares = jax.tree.map(lambda leaf: jnp.zeros((period, *leaf.shape), leaf.dtype), parameters)
        return Memory(jnp.zeros((), jnp.int32), squares)

    def update(gradient: optax.Updates, memory: Memory, parameters: Any = None, **_: Any) -> tuple[Any, Memory]:
        del parameters
        place = memory.taken % period
        squares = jax.tree.map(lambda old, g: old.at[place].set(g * g), memory.squares, gradient)
        change = jax.tree.map(
            lambda g, last: -learning_rate * g / jnp.sqrt(last.sum(axis=0) + offset), gradient, squares
        )
        return change, Memory(memory.taken + 1, squares)

    return optax.GradientTransformationExtraArgs(init, update)


def adagrad_reset(
    learning_rate: float, period: int = PERIOD, start: float = 0.1, offset: float = 1e-3
) -> optax.GradientTransformationExtraArgs:
    """Set the sum of squares back to `start` every `period` steps: -learning_rate g / sqrt(sum + offset)."""

    def init(parameters: optax.Params) -> Memory:
        return Memory(jnp.zeros((), jnp.int32), jax.tree.map(lambda leaf: jnp.full_like(leaf, start), parameters))

    def update(gradient: optax.Updates, memory: Memory, parameters: Any = None, **_: Any) -> tuple[Any, Memory]:
        del parameters
        forgets = memory.taken % period == 0
        sums = jax.tree.map(lambda old, g: jnp.where(forgets, start, old) + g * g, memory.squares, gradient)
        change = jax.tree.map(lambda g, total: -learning_rate * g / jnp.sqrt(total + offset), gradient, sums)
        return change, Memory(memory.taken + 1, sums)

    return optax.GradientTransformationExtraArgs(init, update)


OPTIMISERS: dict[OptimiserName, Callable[[float], optax.GradientTransformation]] = {
    "adam": optax.adam,
    "adam_half": partial(optax.adam, b1=0.5),
    "adagrad": optax.adagrad,
    "adagrad_window": adagrad_window,
    "adagrad_reset": adagrad_reset,
    "rmsprop": optax.rmsprop,
    "sgd": optax.sgd,
}


def by_block(
    name: OptimiserName, learning_rate: float, block_rates: Mapping[str, float]
) -> optax.GradientTransformationExtraArgs:
    """An optimiser whose steps on single blocks of parameters have other sizes.

    Args:
        name: One of `OPTIMISERS`, whose steps are all proportional to the learning rate.
        learning_rate: Step size of all other blocks.
        block_rates: Step sizes by the name under which a block is found anywhere in the tree of parameters.
    """
    optimiser = optax.with_extra_args_support(OPTIMISERS[name](learning_rate))
    if not block_rates:
        return optimiser

    def init(parameters: optax.Params) -> Any:
        found = {block for path, _ in jax.tree.leaves_with_path(parameters) for block in _blocks(path)}
        for block in block_rates.keys() - found:
            raise InputError(f"block_rates names {block}, but the blocks are {', '.join(sorted(found))}")
        return optimiser.init(parameters)

    def rescaled(path: tuple[Any, ...], leaf: jax.Array) -> jax.Array:
        rates = [rate for block, rate in block_rates.items() if block in _blocks(path)]
        return leaf * (rates[0] / learning_rate) if rates else leaf

    def update(gradient: Any, memory: Any, parameters: Any = None, **extra: Any) -> tuple[Any, Any]:
        change, memory = optimiser.update(gradient, memory, parameters, **extra)
        return jax.tree.map_with_path(rescaled, change), memory

    return optax.GradientTransformationExtraArgs(init, update)


def _blocks(path: tuple[Any, ...]) -> set[str]:
    return {step.key for step in path if isinstance(step, jax.tree_util.DictKey)}
