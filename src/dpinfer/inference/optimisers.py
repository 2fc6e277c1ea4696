"""Optimisers by name: what they see of the data is the released gradient alone."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import optax

from dpinfer.errors import InputError
from dpinfer.inference import adagrad
from dpinfer.inference.names import OptimiserName

OPTIMISERS: dict[OptimiserName, Callable[[float], optax.GradientTransformation]] = {
    "adam": optax.adam,
    "adam_half": partial(optax.adam, b1=0.5),
    "adagrad": optax.adagrad,
    "adagrad_window": adagrad.window,
    "adagrad_reset": adagrad.reset,
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
