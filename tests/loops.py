"""Small training loops, for tests of `dpinfer.training`."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.training import Loader, Optimiser, State
from dpinfer.types import Tree

RECORDS, BATCH, STEPS = 200, 20, 12
BARE: dict[str, Any] = {"num_records": RECORDS, "expected_batch": BATCH, "clip": 0.5, "delta": 1e-5}
SETTINGS: dict[str, Any] = {**BARE, "noise_multiplier": 1.3}
X = np.random.default_rng(0).normal(size=(RECORDS, 3)).astype(np.float32)
PARAMETERS: Tree = {"w": jnp.arange(3.0), "b": jnp.float32(0.5)}


def loss(parameters: Tree, record: Tree) -> jax.Array:
    (x,) = record
    return parameters["w"] @ x + jnp.tanh(parameters["b"] * x[0])


def nothing(parameters: Tree, record: Tree) -> jax.Array:
    """A loss whose gradient is zero, so that a step is its noise."""
    return 0.0 * (sum(leaf.sum() for leaf in jax.tree.leaves(parameters)) + record[0].sum())


def step(optimiser: Optimiser, state: State, loader: Loader | None = None) -> State:
    return optimiser.step(state, (loader or Loader(optimiser, (X,))).batch(state))


def run(optimiser: Optimiser, state: State, steps: int, loader: Loader | None = None) -> State:
    loader = loader or Loader(optimiser, (X,))
    for _ in range(steps):
        state = step(optimiser, state, loader)
    return state


def bits(state: State) -> list[np.ndarray]:
    """All of a state as plain arrays."""
    return [np.asarray(leaf) for leaf in jax.tree.leaves(state._replace(key=jax.random.key_data(state.key)))]


def flat(state: State) -> np.ndarray:
    """Its parameters as a vector."""
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(state.parameters)])


def same(one: State, other: State) -> bool:
    """Whether two states are equal, bit for bit."""
    return all(
        a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(bits(one), bits(other), strict=True)
    )
