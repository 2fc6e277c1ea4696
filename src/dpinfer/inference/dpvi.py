"""Doubly stochastic variational inference, private through its mechanism (DPVI, arXiv:1610.08749; d3p).

The guide is a Gaussian with independent coordinates, z = loc + exp(log_scale) * e with e ~ N(0, I). One record's
share of the negative ELBO is
    l_i = -log p(x_i | z_i) + (log q(z_i) - log p(z_i)) / N,
so that the sum over all N records is the whole. The gradient of l_i is what is clipped; the released sum over a
batch, divided by the public expected size of a batch, goes to the optimiser.

Arguments tell the variants of DPVI's paper and code apart. `gradient_of` scales what the optimiser gets, before or
after clipping (`clip_scaled`); several `draws` are examples of their own, which together respect the clip; a
`regulariser` that stays apart touches no record and so needs neither clip nor noise.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.accounting.events import Event, Repeat
from dpinfer.inference.base import Algorithm
from dpinfer.inference.names import GradientOf, OptimiserName, Regulariser
from dpinfer.inference.optimisers import by_block
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.by_name import sampler_of
from dpinfer.sampling.names import SamplerName
from dpinfer.tree import normal_like
from dpinfer.types import Key, Loss, Records, Tree

Guide = dict[str, Tree]


class State(NamedTuple):
    """Parameters of the guide, `loc` and `log_scale`, and the optimiser's memory."""

    guide: Guide
    optimiser: Any


class Randomness(NamedTuple):
    """All that is random about a step.

    Attributes:
        batch: Which records it sees.
        unit: Standard normal draws in the shape of the model's parameters. Its leading axis counts all first
            draws of the batch's records, then all second draws; or the draws, where records share them.
        local: The model's own draws for each record.
        noise: The mechanism's.
    """

    batch: Batch
    unit: Tree
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
    gradient_of: GradientOf = "record",
    clip_scaled: bool = False,
    draws: int = 1,
    shared_draws: bool = False,
    regulariser: Regulariser = "shared",
    entropy_weight: float = 1.0,
    block_rates: Mapping[str, float] | None = None,
) -> Algorithm:
    """Build DP-VI.

    Args:
        model: What is learnt.
        mechanism: Releases sums of gradients.
        num_records: Number of all records, which is public.
        expected_batch: Expected number of records in a batch.
        num_steps: Steps of a run.
        sampler: How batches are drawn.
        optimiser: One of `OPTIMISERS`.
        learning_rate: Its step size.
        gradient_of: Whose gradient the optimiser gets.
        clip_scaled: Whether the clip bounds a record's gradient once it is scaled to `gradient_of`.
        draws: Draws from the guide for each record in a step.
        shared_draws: Whether all records of a batch see the same draws.
        regulariser: Whether records share prior and entropy.
        entropy_weight: Weight of the guide's entropy; 1 is the ELBO.
        block_rates: Step sizes of single blocks of parameters, by their names.
    """
    batches = sampler_of(sampler, num_records, expected_batch, num_steps)
    descent = by_block(optimiser, learning_rate, block_rates or {})
    # What a sum over a batch is divided by to become the gradient that the optimiser gets.
    divisor = {"record": batches.expected, "batch": 1.0, "data": batches.expected / num_records}[gradient_of]
    weight = 1 / (draws * (divisor if clip_scaled else 1.0))
    loss, apart = _objective(model, num_records, weight, entropy_weight, regulariser)

    def init(key: Key, records: Records) -> State:
        start = model.init(key, records)
        guide = {"loc": start, "log_scale": jax.tree.map(jnp.zeros_like, start)}
        return State(guide, descent.init(guide))

    def random(key: Key, state: State) -> Randomness:
        key_batch, key_unit, key_local, key_noise = jax.random.split(key, 4)
        batch = batches.draw(key_batch)
        size = batch.mask.shape[0]
        count = draws if shared_draws else draws * size
        shapes = jax.tree.map(
            lambda leaf: jax.ShapeDtypeStruct((count, *leaf.shape), leaf.dtype), state.guide["loc"]
        )
        unit = normal_like(key_unit, shapes)
        local = model.local(key_local, size)
        return Randomness(batch, unit, local, mechanism.random(key_noise, state.guide))

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        examples, mask = _examples(drawn, records, draws, shared_draws)
        released = mechanism.release(drawn.noise, loss, state.guide, examples, mask)
        if not clip_scaled:
            released = jax.tree.map(lambda leaf: leaf / divisor, released)
        if apart is not None:
            # In the same units: a whole for the data, a share of 1 / N for a record.
            share = batches.expected / (num_records * divisor)
            exact = jax.grad(apart)(state.guide, drawn.unit)
            released = jax.tree.map(lambda noisy, plain: noisy + share * plain, released, exact)
        change, memory = descent.update(released, state.optimiser, state.guide)
        return State(optax.apply_updates(state.guide, change), memory), ()

    def draw(key: Key, state: State) -> Tree:
        return _at(state.guide, normal_like(key, state.guide["loc"]))

    def event(num_steps: int) -> Event:
        return Repeat(event=batches.event(mechanism.event), count=num_steps)

    def centre(state: State) -> Tree:
        return state.guide["loc"]

    return Algorithm(init, random, update, draw, event, centre=centre)


def _objective(
    model: Model, num_records: int, weight: float, entropy_weight: float, kind: Regulariser
) -> tuple[Loss, Callable[[Guide, Tree], jax.Array] | None]:
    """One example's share of the negative ELBO times `weight`, and the share of no record, where it is apart."""

    def regulariser(guide: Guide, z: Tree) -> jax.Array:
        # log q(z) by its path is -sum of log_scale plus what does not depend on the guide.
        log_q = -sum(leaf.sum() for leaf in jax.tree.leaves(guide["log_scale"]))
        return entropy_weight * log_q - model.log_prior(z)

    def whole(guide: Guide, example: tuple[Records, Tree]) -> jax.Array:
        record, unit = example
        z = _at(guide, unit)
        return weight * (-model.log_likelihood(z, record) + regulariser(guide, z) / num_records)

    def likelihood(guide: Guide, example: tuple[Records, Tree]) -> jax.Array:
        record, unit = example
        return -weight * model.log_likelihood(_at(guide, unit), record)

    def apart(guide: Guide, units: Tree) -> jax.Array:
        return jax.vmap(lambda unit: regulariser(guide, _at(guide, unit)))(units).mean()

    return (whole, None) if kind == "shared" else (likelihood, apart)


def _examples(
    drawn: Randomness, records: Records, draws: int, shared_draws: bool
) -> tuple[tuple[dict[str, jax.Array], Tree], jax.Array]:
    """Every record with each of its draws, all first draws before all second ones; and the mask of these pairs."""
    size = drawn.batch.mask.shape[0]
    batch = {**take(records, drawn.batch), **drawn.local}
    repeated, mask = jax.tree.map(
        lambda leaf: jnp.tile(leaf, (draws, *(1,) * (leaf.ndim - 1))), (batch, drawn.batch.mask)
    )
    unit = drawn.unit
    if shared_draws:
        unit = jax.tree.map(lambda leaf: jnp.repeat(leaf, size, axis=0), unit)
    return (repeated, unit), mask


def _at(guide: Guide, unit: Tree) -> Tree:
    """The parameters that standard normal draws become under the guide."""
    return jax.tree.map(
        lambda loc, log_scale, e: loc + jnp.exp(log_scale) * e, guide["loc"], guide["log_scale"], unit
    )
