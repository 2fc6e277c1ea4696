"""Gradient descent with momentum on all records to the mode of the posterior, private through its mechanism."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event, Repeat
from dpinfer.inference.base import Algorithm
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree


class State(NamedTuple):
    """Where a run is, and how fast it moves."""

    parameters: Tree
    velocity: Tree


def build(
    model: Model, mechanism: Mechanism, num_records: int, *, learning_rate: float, momentum: float = 0.9
) -> Algorithm:
    """Build descent by v <- momentum v + (released sum + gradient of the log prior) / n, w <- w + learning_rate v.

    The sum over records goes through the mechanism; all else is computed from what it released.
    """
    everyone = jnp.ones(num_records, bool)

    def init(key: Key, records: Records) -> State:
        start = model.init(key, records)
        return State(start, jax.tree.map(jnp.zeros_like, start))

    def random(key: Key, state: State) -> Tree:
        return mechanism.random(key, state.parameters)

    def update(noise: Tree, state: State, records: Records) -> tuple[State, tuple[()]]:
        likelihood = mechanism.release(noise, model.log_likelihood, state.parameters, records, everyone)
        prior = jax.grad(model.log_prior)(state.parameters)
        velocity = jax.tree.map(
            lambda v, a, b: momentum * v + (a + b) / num_records, state.velocity, likelihood, prior
        )
        moved = jax.tree.map(lambda w, v: w + learning_rate * v, state.parameters, velocity)
        return State(moved, velocity), ()

    def draw(key: Key, state: State) -> Tree:
        del key  # the approximate posterior is the mode alone
        return state.parameters

    def event(num_steps: int) -> Event:
        return Repeat(event=mechanism.event, count=num_steps)

    return Algorithm(init, random, update, draw, event)
