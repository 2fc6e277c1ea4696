"""Stochastic gradient Langevin dynamics as a private sampler (Wang, Fienberg and Smola, arXiv:1502.07645).

The position moves by
    w <- w + eta ((N / B) sum of gradients of log p(x_i | w) + gradient of log p(w)) + z,
z ~ N(0, max(eta^2 K, eta)), and is then projected to a ball. The part eta^2 K of z is the mechanism's noise on the
sum, scaled like the sum; the rest, which tells nothing of the data, tops it up to eta, and no guarantee rests on
it.
With a drift of eta, not eta / 2, noise of variance eta samples the square of the posterior: so it is published.

The last positions, which are all released, are the posterior's sample.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.accounting.events import Event, Repeat
from dpinfer.inference.base import Algorithm
from dpinfer.inference.names import StepSizes
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.by_name import sampler_of
from dpinfer.sampling.names import SamplerName
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records, Tree


class State(NamedTuple):
    """Where the chain is, how many steps it took, and its last positions in a ring, leaves (samples, ...)."""

    position: Tree
    taken: jax.Array
    ring: Tree


class Randomness(NamedTuple):
    """All that is random about a step: its batch, the model's own draws, the mechanism's noise and the rest."""

    batch: Batch
    local: dict[str, jax.Array]
    noise: Tree
    rest: Tree


def build(
    model: Model,
    mechanism: Mechanism,
    num_records: int,
    *,
    expected_batch: int,
    num_steps: int,
    step_size: float,
    sampler: SamplerName = "poisson",
    schedule: StepSizes = "constant",
    radius: float | None = None,
    samples: int = 100,
) -> Algorithm:
    """Build the dynamics.

    Args:
        model: What is learnt.
        mechanism: Releases sums of gradients.
        num_records: Number of all records, which is public.
        expected_batch: Expected number of records in a batch.
        num_steps: Steps of a run.
        sampler: How batches are drawn.
        step_size: Step size on the gradient of all records.
        schedule: How step sizes change.
        radius: Norm beyond which the position is projected back; none by default.
        samples: How many of the last positions are the posterior.
    """
    batches = sampler_of(sampler, num_records, expected_batch, num_steps)
    scale = num_records / batches.expected

    def init(key: Key, records: Records) -> State:
        start = model.init(key, records)
        ring = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], samples, axis=0), start)
        return State(start, jnp.zeros((), jnp.int32), ring)

    def random(key: Key, state: State) -> Randomness:
        key_batch, key_local, key_noise, key_rest = jax.random.split(key, 4)
        batch = batches.draw(key_batch)
        local = model.local(key_local, batch.mask.shape[0])
        noise, rest = mechanism.random(key_noise, state.position), normal_like(key_rest, state.position)
        return Randomness(batch, local, noise, rest)

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        examples = {**take(records, drawn.batch), **drawn.local}
        released = mechanism.release(drawn.noise, model.log_likelihood, state.position, examples, drawn.batch.mask)
        prior = jax.grad(model.log_prior)(state.position)
        eta = step_size if schedule == "constant" else jnp.maximum(1 / (state.taken + 1), step_size)
        # What the mechanism's noise on the sum has become falls short of eta by this, if at all.
        missing = jnp.sqrt(jnp.maximum(eta - (eta * scale * mechanism.noise_std) ** 2, 0.0))
        moved = jax.tree.map(
            lambda w, likely, before, unit: w + eta * (scale * likely + before) + missing * unit,
            state.position, released, prior, drawn.rest,
        )  # fmt: skip
        position = moved if radius is None else _project(moved, radius)
        place = state.taken % samples
        ring = jax.tree.map(lambda kept, leaf: kept.at[place].set(leaf), state.ring, position)
        return State(position, state.taken + 1, ring), ()

    def draw(key: Key, state: State) -> Tree:
        chosen = jax.random.randint(key, (), 0, samples)
        return jax.tree.map(lambda leaf: leaf[chosen], state.ring)

    def event(num_steps: int) -> Event:
        return Repeat(event=batches.event(mechanism.event), count=num_steps)

    return Algorithm(init, random, update, draw, event)


def _project(position: Tree, radius: float) -> Tree:
    """The nearest point of the ball around zero."""
    factor = radius / jnp.maximum(optax.tree.norm(position), radius)
    return jax.tree.map(lambda leaf: factor * leaf, position)
