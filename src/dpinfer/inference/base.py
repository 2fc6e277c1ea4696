"""One interface for every algorithm, and the one loop that runs them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event
from dpinfer.types import Key, Records, Tree


class Algorithm(NamedTuple):
    """A way to learn parameters from records.

    Attributes:
        init: `(key, records) -> state`.
        step: `(key, state, records) -> (state, info)`.
        draw: `(key, state) -> parameters`, one draw from the approximate posterior.
        event: `num_steps -> event`, what that many steps tell about the records.
    """

    init: Callable[[Key, Records], Any]
    step: Callable[[Key, Any, Records], tuple[Any, Any]]
    draw: Callable[[Key, Any], Tree]
    event: Callable[[int], Event]


def run(algorithm: Algorithm, key: Key, records: Records, num_steps: int) -> Any:
    """Run all steps in one compiled scan and return the last state.

    The start has `fold_in(key, 0)` and step t has `fold_in(key, t)`, t from 1: no key is used twice.
    """

    def advance(state: Any, step: jax.Array) -> tuple[Any, None]:
        return algorithm.step(jax.random.fold_in(key, step), state, records)[0], None

    start = algorithm.init(jax.random.fold_in(key, 0), records)
    return jax.lax.scan(advance, start, jnp.arange(1, num_steps + 1))[0]


def run_seeds(algorithm: Algorithm, key: Key, records: Records, num_steps: int, seeds: int) -> Any:
    """Run all repetitions in one compiled program; every leaf of the states has a leading axis of seeds."""
    keys = jax.vmap(lambda seed: jax.random.fold_in(key, seed))(jnp.arange(seeds))
    repeat = jax.jit(jax.vmap(lambda own, data: run(algorithm, own, data, num_steps), in_axes=(0, None)))
    return repeat(keys, records)
