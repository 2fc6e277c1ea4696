"""Stochastic gradient descent on a model's loss, private through its mechanism (Abadi et al., arXiv:1607.00133).

It learns the parameters themselves, without a distribution over them: of a deep model, whose likelihood may in
turn be bounded by variational means, as that of an auto-encoder.
"""

from typing import Any, NamedTuple

import jax
import optax

from dpinfer.accounting.events import Event, Repeat
from dpinfer.inference.base import Algorithm
from dpinfer.inference.names import OptimiserName
from dpinfer.inference.optimisers import OPTIMISERS
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.by_name import sampler_of
from dpinfer.sampling.names import SamplerName
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


def build(
    model: Model,
    mechanism: Mechanism,
    num_records: int,
    *,
    expected_batch: int,
    num_steps: int,
    sampler: SamplerName = "poisson",
    optimiser: OptimiserName = "adam",
    learning_rate: float = 1e-3,
    weight_decay: float = 0.0,
) -> Algorithm:
    """Build DP-SGD.

    Args:
        model: What is learnt.
        mechanism: Releases sums of gradients.
        num_records: Number of all records, which is public.
        expected_batch: Expected number of records in a batch.
        num_steps: Steps of a run.
        sampler: How batches are drawn.
        optimiser: One of `OPTIMISERS`.
        learning_rate: Its step size.
        weight_decay: Times the parameters, it is added to the released gradient.
    """
    batches = sampler_of(sampler, num_records, expected_batch, num_steps)
    descent = optax.chain(optax.add_decayed_weights(weight_decay), OPTIMISERS[optimiser](learning_rate))

    def loss(parameters: Tree, record: Records) -> jax.Array:
        return -model.log_likelihood(parameters, record) - model.log_prior(parameters) / num_records

    def init(key: Key, records: Records) -> State:
        parameters = model.init(key, records)
        return State(parameters, descent.init(parameters))

    def random(key: Key, state: State) -> Randomness:
        key_batch, key_local, key_noise = jax.random.split(key, 3)
        batch = batches.draw(key_batch)
        local = model.local(key_local, batch.mask.shape[0])
        return Randomness(batch, local, mechanism.random(key_noise, state.parameters))

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        examples = {**take(records, drawn.batch), **drawn.local}
        released = mechanism.release(drawn.noise, loss, state.parameters, examples, drawn.batch.mask)
        mean = jax.tree.map(lambda leaf: leaf / batches.expected, released)
        change, memory = descent.update(mean, state.optimiser, state.parameters)
        return State(optax.apply_updates(state.parameters, change), memory), ()

    def draw(key: Key, state: State) -> Tree:
        del key  # there is but one value
        return state.parameters

    def event(num_steps: int) -> Event:
        return Repeat(event=batches.event(mechanism.event), count=num_steps)

    def keep(state: State, info: tuple[()]) -> Tree:
        del info
        return state.parameters

    return Algorithm(init, random, update, draw, event, keep)
