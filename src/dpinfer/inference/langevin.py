"""Stochastic gradient Langevin dynamics whose noise is the privacy noise (DP-SGLD, Li et al., 2019).

With g_i the tempered gradient of log p(x_i), clipped, and h = step size / N,
    theta <- theta + h [(N / B) (sum of g_i over a batch of B) + gradient of log prior] + N(0, diffusion h).
The normal variable is what the mechanism adds to the sum: noise_multiplier clip h N / B is its deviation, from
which the step size follows. Langevin dynamics have diffusion 2; with the 1 of DP-MCMC's comparison the chain
samples the square of the posterior density, normalised.
"""

import math
from typing import Any, NamedTuple

import jax

from dpinfer.accounting.events import Event, Gaussian, Repeat
from dpinfer.errors import InputError
from dpinfer.inference import running
from dpinfer.inference.base import Algorithm
from dpinfer.inference.running import Moments
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.by_name import sampler_of
from dpinfer.sampling.names import SamplerName
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records, Tree


class State(NamedTuple):
    """Where the chain is, and the moments of where it has been."""

    parameters: Tree
    moments: Moments


class Randomness(NamedTuple):
    """All that is random about a step.

    Attributes:
        batch: Which records it sees.
        noise: The mechanism's.
        unit: Standard normal draws for the diffusion of a run without privacy.
    """

    batch: Batch
    noise: Tree
    unit: Tree


def build(
    model: Model,
    mechanism: Mechanism,
    num_records: int,
    *,
    expected_batch: int,
    num_steps: int,
    clip: float,
    sampler: SamplerName = "poisson",
    diffusion: float = 2.0,
    step_size: float | None = None,
    tempered_records: int | None = None,
    burn_in: int = 0,
) -> Algorithm:
    """Build the chain; without privacy, its noise is drawn beside a mechanism that adds none.

    Args:
        model: What is learnt.
        mechanism: Releases sums of gradients.
        num_records: Number of all records, which is public.
        expected_batch: Expected number of records in a batch.
        num_steps: Steps of a run.
        sampler: How batches are drawn.
        clip: The clip of the mechanism.
        diffusion: Noise variance over the step of the drift: Langevin dynamics have 2.
        step_size: The step size of a run without privacy, whose noise follows from it.
        tempered_records: The likelihood counts as that of so many records; by default as it is.
        burn_in: First steps, which running moments leave out.

    Raises:
        InputError: Nothing says how large steps are.
    """
    batches = sampler_of(sampler, num_records, expected_batch, num_steps)
    temperature = (tempered_records or num_records) / num_records
    taken = step_size_of(
        mechanism.event,
        num_records,
        expected_batch=expected_batch,
        clip=clip,
        diffusion=diffusion,
        given=step_size,
    )
    drift = taken / num_records
    deviation = 0.0 if isinstance(mechanism.event, Gaussian) else math.sqrt(diffusion * drift)

    def init(key: Key, records: Records) -> State:
        parameters = model.init(key, records)
        return State(parameters, running.zero(parameters))

    def random(key: Key, state: State) -> Randomness:
        key_batch, key_noise, key_unit = jax.random.split(key, 3)
        unit = normal_like(key_unit, state.parameters) if deviation else ()
        return Randomness(batches.draw(key_batch), mechanism.random(key_noise, state.parameters), unit)

    def loss(parameters: Tree, record: Records) -> jax.Array:
        return temperature * model.log_likelihood(parameters, record)

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        examples = take(records, drawn.batch)
        released = mechanism.release(drawn.noise, loss, state.parameters, examples, drawn.batch.mask)
        prior = jax.grad(model.log_prior)(state.parameters)
        weight = num_records / batches.expected
        slope = jax.tree.map(lambda likelihood, other: weight * likelihood + other, released, prior)
        after = jax.tree.map(lambda at, along: at + drift * along, state.parameters, slope)
        if deviation:
            after = jax.tree.map(lambda at, unit: at + deviation * unit, after, drawn.unit)
        return State(after, running.add(state.moments, after, burn_in)), ()

    def draw(key: Key, state: State) -> Tree:
        del key
        return state.parameters

    def event(num_steps: int) -> Event:
        return Repeat(event=batches.event(mechanism.event), count=num_steps)

    def keep(state: State, info: Any) -> State:
        del info
        return state

    return Algorithm(init, random, update, draw, event, keep)


def step_size_of(
    release: Event,
    num_records: int,
    *,
    expected_batch: int,
    clip: float,
    diffusion: float = 2.0,
    given: float | None = None,
) -> float:
    """The step size for which the noise of a release is the diffusion's, or the one given if there is no noise.

    Raises:
        InputError: There is neither.
    """
    if isinstance(release, Gaussian):
        noise = release.noise_multiplier * clip
        return diffusion * expected_batch**2 / (noise**2 * num_records)
    if given is None:
        raise InputError("step_size should be given for a run without privacy")
    return given
