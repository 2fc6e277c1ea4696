"""Optimisers of optax, made private: they see of the records only clipped sums of gradients with noise."""

from typing import Any, NamedTuple

import jax
import optax

from dpinfer.accounting.events import Adjacency
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.sampling.base import Sampler
from dpinfer.sampling.named import SamplerName, sampler_of
from dpinfer.training.accountant import Accountant
from dpinfer.types import Key, Loss, Tree

MOST_STEPS = 10_000_000
"""Of which no Poisson batch may overflow; it costs nothing to allow for many."""


class Batch(NamedTuple):
    """Records of a batch, padded to a size that is the same for all.

    Attributes:
        records: In the shape of the data; padding repeats records.
        mask: Whether an entry is in the batch or padding.
    """

    records: Tree
    mask: jax.Array


class State(NamedTuple):
    """Where training stands."""

    parameters: Tree
    memory: Any
    key: Key


class Optimiser:
    """An optimiser that owns the account of its steps; made by `private`, `dpsgd` and the like.

    Attributes:
        sampler: How its batches must be drawn, as `Loader` does.
        num_records: How many records they are drawn from.
        accountant: What its steps cost.
    """

    def __init__(
        self,
        optimiser: optax.GradientTransformation,
        loss: Loss,
        mechanism: Mechanism,
        sampler: Sampler,
        num_records: int,
        accountant: Accountant,
    ) -> None:
        self.sampler, self.num_records, self.accountant = sampler, num_records, accountant
        self._optimiser = optimiser

        @jax.jit
        def moved(parameters: Tree, memory: Any, key: Key, batch: Batch) -> tuple[Tree, Any]:
            noise = mechanism.random(key, parameters)
            released = mechanism.release(noise, loss, parameters, batch.records, batch.mask)
            gradient = jax.tree.map(lambda leaf: leaf / sampler.expected, released)
            change, memory = optimiser.update(gradient, memory, parameters)
            return optax.apply_updates(parameters, change), memory

        self._moved = moved

    def init(self, parameters: Tree, key: Key) -> State:
        """The state at the start; the key is for the noise of all steps."""
        return State(parameters, self._optimiser.init(parameters), key)

    def step(self, state: State, batch: Batch) -> State:
        """Take one step, and have it counted; refused where the budget does not allow it."""
        self.accountant.spend()
        # By the steps counted, not by the state: a step taken twice from one state has its own noise.
        key = jax.random.fold_in(state.key, self.accountant.steps)
        parameters, memory = self._moved(state.parameters, state.memory, key, batch)
        return State(parameters, memory, state.key)


def private(
    optimiser: optax.GradientTransformation,
    loss: Loss,
    *,
    num_records: int,
    expected_batch: float,
    clip: float,
    noise_multiplier: float,
    delta: float,
    sampler: SamplerName = "poisson",
    adjacency: Adjacency = "add-remove",
    budget: float | None = None,
    accountant: str = "rdp",
    micro_batch: int | None = None,
) -> Optimiser:
    """Make any optimiser of optax private.

    Guarantee: what its steps make of batches that were drawn by its sampler is (`accountant.epsilon()`, delta)-
    private for the records, however the optimiser uses the gradients: it sees nothing else of the records.

    Args:
        optimiser: Any that needs gradients and parameters alone.
        loss: Scalar function of parameters and one record. A `dpinfer.models.layers.Network` is clipped by
            book-keeping, any other by gradients that are taken one by one.
        num_records: How many records there are.
        expected_batch: Expected size of a batch, by which sums are divided.
        clip: Largest norm of one record's gradient.
        noise_multiplier: Noise standard deviation over clip; `dpinfer sigma` finds it for a target.
        delta: Delta of the guarantee.
        sampler: poisson: each record by its own coin. subset, replacement: a fixed number, without or with
            replacement.
        adjacency: Which data sets count as neighbours.
        budget: Largest epsilon that the steps may cost; none by default.
        accountant: What epsilon is computed by.
        micro_batch: How many gradients are held in memory at once; as many as fit by default.
    """
    mechanism = gaussian(clip, noise_multiplier, micro_batch)
    drawn = sampler_of(sampler, num_records, expected_batch, MOST_STEPS)
    account = Accountant(drawn.event(mechanism.event), delta, adjacency, budget, accountant)
    return Optimiser(optimiser, loss, mechanism, drawn, num_records, account)


def dpsgd(loss: Loss, learning_rate: float, **settings: Any) -> Optimiser:
    """Private stochastic gradient descent; the settings are those of `private`."""
    return private(optax.sgd(learning_rate), loss, **settings)


def dpadam(loss: Loss, learning_rate: float, **settings: Any) -> Optimiser:
    """Private Adam; the settings are those of `private`."""
    return private(optax.adam(learning_rate), loss, **settings)


def dpadagrad(loss: Loss, learning_rate: float, **settings: Any) -> Optimiser:
    """Private AdaGrad; the settings are those of `private`."""
    return private(optax.adagrad(learning_rate), loss, **settings)


def dprmsprop(loss: Loss, learning_rate: float, **settings: Any) -> Optimiser:
    """Private RMSprop; the settings are those of `private`."""
    return private(optax.rmsprop(learning_rate), loss, **settings)
