"""AdaGrad that forgets, in the two ways of DPVI's released code, as optax transformations.

AdaGrad divides the step on every coordinate by the root of the sum of its squared gradients so far; under noise
that sum grows for ever. Both of these let the steps stay as large as at the start.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

PERIOD = 10


class Memory(NamedTuple):
    """Steps taken so far, and squared gradients: of the last steps, or their sum."""

    taken: jax.Array
    squares: Any


def window(
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


def reset(
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
