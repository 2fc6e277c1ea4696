"""Doubly stochastic variational inference, private through its mechanism (DPVI, arXiv:1610.08749; d3p).

The guide is a Gaussian with independent coordinates, z = loc + exp(log_scale) * e with e ~ N(0, I). One record's
share of the negative ELBO is
    l_i = -log p(x_i | z_i) + (log q(z_i) - log p(z_i)) / N,
so that the sum over all N records is the whole. The gradient of l_i is what is clipped; the released sum over a
batch, divided by the public expected size of a batch, goes to the optimiser.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.accounting.events import Event, Repeat
from dpinfer.inference.base import Algorithm
from dpinfer.inference.optimisers import OPTIMISERS
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.named import sampler_of
from dpinfer.settings.cell import Dpvi
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records, Tree


class State(NamedTuple):
    """Parameters of the guide, `loc` and `log_scale`, and the optimiser's memory."""

    guide: dict[str, Tree]
    optimiser: Any


class Randomness(NamedTuple):
    """All that is random about a step.

    Attributes:
        batch: Which records it sees.
        unit: Standard normal draws in the shape of the model's parameters, with a leading axis of the batch.
        local: The model's own draws for each record.
        noise: The mechanism's.
    """

    batch: Batch
    unit: Tree
    local: dict[str, jax.Array]
    noise: Tree


def build(settings: Dpvi, model: Model, mechanism: Mechanism, num_records: int) -> Algorithm:
    """Build DP-VI with the sampler and the optimiser of the settings."""
    sampler = sampler_of(settings.sampler, num_records, settings.expected_batch, settings.num_steps)
    optimiser = OPTIMISERS[settings.optimiser](settings.learning_rate)

    def init(key: Key, records: Records) -> State:
        start = model.init(key, records)
        guide = {"loc": start, "log_scale": jax.tree.map(jnp.zeros_like, start)}
        return State(guide, optimiser.init(guide))

    def random(key: Key, state: State) -> Randomness:
        key_batch, key_unit, key_local, key_noise = jax.random.split(key, 4)
        batch = sampler.draw(key_batch)
        size = batch.mask.shape[0]
        shapes = jax.tree.map(
            lambda leaf: jax.ShapeDtypeStruct((size, *leaf.shape), leaf.dtype), state.guide["loc"]
        )
        unit = normal_like(key_unit, shapes)
        local = model.local(key_local, size)
        return Randomness(batch, unit, local, mechanism.random(key_noise, state.guide))

    def loss(guide: dict[str, Tree], example: tuple[Records, Tree]) -> jax.Array:
        record, unit = example
        z = _at(guide, unit)
        # log q(z) by its path is -sum of log_scale plus what does not depend on the guide.
        log_q = -sum(leaf.sum() for leaf in jax.tree.leaves(guide["log_scale"]))
        return -model.log_likelihood(z, record) + (log_q - model.log_prior(z)) / num_records

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        examples = ({**take(records, drawn.batch), **drawn.local}, drawn.unit)
        released = mechanism.release(drawn.noise, loss, state.guide, examples, drawn.batch.mask)
        mean = jax.tree.map(lambda leaf: leaf / sampler.expected, released)
        change, memory = optimiser.update(mean, state.optimiser, state.guide)
        return State(optax.apply_updates(state.guide, change), memory), ()

    def draw(key: Key, state: State) -> Tree:
        return _at(state.guide, normal_like(key, state.guide["loc"]))

    def event(num_steps: int) -> Event:
        return Repeat(event=sampler.event(mechanism.event), count=num_steps)

    def centre(state: State) -> Tree:
        return state.guide["loc"]

    return Algorithm(init, random, update, draw, event, centre=centre)


def _at(guide: dict[str, Tree], unit: Tree) -> Tree:
    """The parameters that standard normal draws become under the guide."""
    return jax.tree.map(
        lambda loc, log_scale, e: loc + jnp.exp(log_scale) * e, guide["loc"], guide["log_scale"], unit
    )
