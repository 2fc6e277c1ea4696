"""Stochastic gradient descent on a model's loss, private through its mechanism (Abadi et al., arXiv:1607.00133).

It learns the parameters themselves, without a distribution over them: of a deep model, whose likelihood may in
turn be bounded by variational means, as that of an auto-encoder.
"""

from typing import Any, NamedTuple

import jax
import optax

from dpinfer.accounting.events import Event, Repeat
from dpinfer.inference.base import Algorithm
from dpinfer.inference.optimisers import OPTIMISERS
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.named import sampler_of
from dpinfer.settings.cell import Dpsgd
from dpinfer.types import Key, Records, Tree


class State(NamedTuple):
    """Parameters of the model, and the optimiser's memory."""

    parameters: Tree
    optimiser: Any


class Randomness(NamedTuple):
    """All that is random about a step: its batch, the model's own draws for each record, the noise."""

    batch: Batch
    local: dict[str, jax.Array]
    noise: Tree


def build(settings: Dpsgd, model: Model, mechanism: Mechanism, num_records: int) -> Algorithm:
    """Build DP-SGD with the sampler and the optimiser of the settings."""
    sampler = sampler_of(settings.sampler, num_records, settings.expected_batch, settings.num_steps)
    optimiser = optax.chain(
        optax.add_decayed_weights(settings.weight_decay), OPTIMISERS[settings.optimiser](settings.learning_rate)
    )

    def loss(parameters: Tree, record: Records) -> jax.Array:
        return -model.log_likelihood(parameters, record) - model.log_prior(parameters) / num_records

    def init(key: Key, records: Records) -> State:
        parameters = model.init(key, records)
        return State(parameters, optimiser.init(parameters))

    def random(key: Key, state: State) -> Randomness:
        key_batch, key_local, key_noise = jax.random.split(key, 3)
        batch = sampler.draw(key_batch)
        local = model.local(key_local, batch.mask.shape[0])
        return Randomness(batch, local, mechanism.random(key_noise, state.parameters))

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        examples = {**take(records, drawn.batch), **drawn.local}
        released = mechanism.release(
            drawn.noise, model.network or loss, state.parameters, examples, drawn.batch.mask
        )
        mean = jax.tree.map(lambda leaf: leaf / sampler.expected, released)
        change, memory = optimiser.update(mean, state.optimiser, state.parameters)
        return State(optax.apply_updates(state.parameters, change), memory), ()

    def draw(key: Key, state: State) -> Tree:
        del key  # there is but one value
        return state.parameters

    def event(num_steps: int) -> Event:
        return Repeat(event=sampler.event(mechanism.event), count=num_steps)

    def keep(state: State, info: tuple[()]) -> Tree:
        del info
        return state.parameters

    return Algorithm(init, random, update, draw, event, keep)
