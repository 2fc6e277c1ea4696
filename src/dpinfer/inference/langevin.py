"""DP-SGLD, stochastic gradient Langevin dynamics as a private sampler, in two ways, each named by its paper.

`li2019`. Its noise is the privacy noise (Li et al., 2019).

With g_i the tempered gradient of log p(x_i), clipped, and h = step size / N,
    theta <- theta + h [(N / B) (sum of g_i over a batch of B) + gradient of log prior] + N(0, diffusion h).
The normal variable is what the mechanism adds to the sum: noise_multiplier clip h N / B is its deviation, from
which the step size follows. Langevin dynamics have diffusion 2; with the 1 of DP-MCMC's comparison the chain
samples the square of the posterior density, normalised.

`wang2015`. Noise tops up the privacy noise (Wang, Fienberg and Smola, arXiv:1502.07645).

The position moves by
    w <- w + eta ((N / B) sum of gradients of log p(x_i | w) + gradient of log p(w)) + z,
z ~ N(0, max(eta^2 K, eta)), and is then projected to a ball. The part eta^2 K of z is the mechanism's noise on the
sum, scaled like the sum; the rest, which tells nothing of the data, tops it up to eta, and no guarantee rests on
it.
With a drift of eta, not eta / 2, noise of variance eta samples the square of the posterior: so it is published.

The last positions, which are all released, are the posterior's sample.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.accounting.events import Event, Gaussian, Repeat
from dpinfer.errors import InputError
from dpinfer.inference import running_moments
from dpinfer.inference.base import Algorithm
from dpinfer.inference.names import StepSizes
from dpinfer.inference.running_moments import RunningMoments
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.by_name import sampler_of
from dpinfer.sampling.names import SamplerName
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records, Tree


class LiState(NamedTuple):
    """Where the chain is, and the moments of where it has been."""

    parameters: Tree
    moments: RunningMoments


class LiRandomness(NamedTuple):
    """All that is random about a step.

    Attributes:
        batch: Which records it sees.
        noise: The mechanism's.
        unit: Standard normal draws for the diffusion of a run without privacy.
    """

    batch: Batch
    noise: Tree
    unit: Tree


def li2019(
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
    taken = li2019_step_size(
        mechanism.event,
        num_records,
        expected_batch=expected_batch,
        clip=clip,
        diffusion=diffusion,
        given=step_size,
    )
    drift = taken / num_records
    deviation = 0.0 if isinstance(mechanism.event, Gaussian) else math.sqrt(diffusion * drift)

    def init(key: Key, records: Records) -> LiState:
        parameters = model.init(key, records)
        return LiState(parameters, running_moments.zero(parameters))

    def random(key: Key, state: LiState) -> LiRandomness:
        key_batch, key_noise, key_unit = jax.random.split(key, 3)
        unit = normal_like(key_unit, state.parameters) if deviation else ()
        return LiRandomness(batches.draw(key_batch), mechanism.random(key_noise, state.parameters), unit)

    def loss(parameters: Tree, record: Records) -> jax.Array:
        return temperature * model.log_likelihood(parameters, record)

    def update(drawn: LiRandomness, state: LiState, records: Records) -> tuple[LiState, tuple[()]]:
        examples = take(records, drawn.batch)
        released = mechanism.release(drawn.noise, loss, state.parameters, examples, drawn.batch.mask)
        prior = jax.grad(model.log_prior)(state.parameters)
        weight = num_records / batches.expected
        slope = jax.tree.map(lambda likelihood, other: weight * likelihood + other, released, prior)
        after = jax.tree.map(lambda at, along: at + drift * along, state.parameters, slope)
        if deviation:
            after = jax.tree.map(lambda at, unit: at + deviation * unit, after, drawn.unit)
        return LiState(after, running_moments.add(state.moments, after, burn_in)), ()

    def draw(key: Key, state: LiState) -> Tree:
        del key
        return state.parameters

    def event(num_steps: int) -> Event:
        return Repeat(event=batches.event(mechanism.event), count=num_steps)

    def keep(state: LiState, info: Any) -> LiState:
        del info
        return state

    return Algorithm(init, random, update, draw, event, keep)


def li2019_step_size(
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


class WangState(NamedTuple):
    """Where the chain is, how many steps it took, and its last positions in a ring, leaves (samples, ...)."""

    position: Tree
    taken: jax.Array
    ring: Tree


class WangRandomness(NamedTuple):
    """All that is random about a step: its batch, the model's own draws, the mechanism's noise and the rest."""

    batch: Batch
    local: dict[str, jax.Array]
    noise: Tree
    rest: Tree


def wang2015(
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

    def init(key: Key, records: Records) -> WangState:
        start = model.init(key, records)
        ring = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], samples, axis=0), start)
        return WangState(start, jnp.zeros((), jnp.int32), ring)

    def random(key: Key, state: WangState) -> WangRandomness:
        key_batch, key_local, key_noise, key_rest = jax.random.split(key, 4)
        batch = batches.draw(key_batch)
        local = model.local(key_local, batch.mask.shape[0])
        noise, rest = mechanism.random(key_noise, state.position), normal_like(key_rest, state.position)
        return WangRandomness(batch, local, noise, rest)

    def update(drawn: WangRandomness, state: WangState, records: Records) -> tuple[WangState, tuple[()]]:
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
        return WangState(position, state.taken + 1, ring), ()

    def draw(key: Key, state: WangState) -> Tree:
        chosen = jax.random.randint(key, (), 0, samples)
        return jax.tree.map(lambda leaf: leaf[chosen], state.ring)

    def event(num_steps: int) -> Event:
        return Repeat(event=batches.event(mechanism.event), count=num_steps)

    return Algorithm(init, random, update, draw, event)


def _project(position: Tree, radius: float) -> Tree:
    """The nearest point of the ball around zero."""
    factor = radius / jnp.maximum(optax.tree.norm(position), radius)
    return jax.tree.map(lambda leaf: factor * leaf, position)
