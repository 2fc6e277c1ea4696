"""Users' training loops, as docs/training.md has them."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jax
import jax.numpy as jnp
import optax

from dpinfer.audit.canaries import EPSILON, STEPS, TRIED, Canaries, Run, loss, moves
from dpinfer.audit.worst_records import CLIP, DELTA
from dpinfer.training import Loader, Optimiser, private
from dpinfer.training.state import State
from dpinfer.types import Key


def whole(key: Key, records: Canaries) -> Run:
    """A compiled loop, whose weights are seen after every step; and beyond what is paid for, as in `svi_calls`."""
    optimiser = _private(records)
    _, looks = _taken(optimiser, _started(optimiser, key, records), records, TRIED)
    return _seen(looks, optimiser)


def resumed(key: Key, records: Canaries) -> Run:
    """The same, saved halfway and gone on with by another optimiser, as after a new start of the program."""
    first, second = _private(records), _private(records)
    state, early = _taken(first, _started(first, key, records), records, STEPS // 2)
    with TemporaryDirectory() as folder:
        first.save(Path(folder) / "run.npz", state)
        loaded = second.load(Path(folder) / "run.npz", jnp.zeros(records.size))
    _, late = _taken(second, loaded, records, TRIED - STEPS // 2)
    return _seen([*early, *late], second)


def _private(records: Canaries) -> Optimiser:
    """With steps of a size at which a record that is drawn moves its weight by one."""
    return private(
        optax.sgd(records.expected_batch / CLIP), loss, num_records=records.size,
        expected_batch=records.expected_batch, clip=CLIP, epsilon=EPSILON, num_steps=STEPS, delta=DELTA,
    )  # fmt: skip


def _started(optimiser: Optimiser, key: Key, records: Canaries) -> State:
    return optimiser.init(jnp.zeros(records.size), key)


def _taken(optimiser: Optimiser, state: State, records: Canaries, count: int) -> tuple[State, list[Any]]:
    """The state after so many steps, and the weights after each."""
    step: Callable[[State, Loader], State] = jax.jit(
        lambda state, loader: optimiser.step(state, loader.batch(state))
    )
    loader = Loader(optimiser, tuple(records))
    looks = []
    for _ in range(count):
        state = step(state, loader)
        looks.append(state.parameters)
    return state, looks


def _seen(looks: list[Any], optimiser: Optimiser) -> Run:
    assert optimiser.budget is not None
    return Run(moves(looks), optimiser.budget.ledger)
