"""DP-MCMC (arXiv:1901.10275): chains that test moves with Barker's test, on batches or on all records.

`minibatch` tests on batches (Sect. 3.3), and without privacy (Seita et al., 2017).

With r_i the log-likelihood ratio of record i and N0 the tempered number of records, a test on a batch of b
accepts if
    N(N0 mean(r), C - s^2) + V_cor + log prior ratio > 0,   s^2 = N0^2 var(r) / b,
where var has the divisor b, as the privacy proof asks (`accounting.sound.barker`).

Guarantee of the private test, C = 2: every ratio is clipped to +-sqrt(b) / N0, so that s^2 <= 1 and the noise
has a variance of at least 1 whatever the records; each test is one `events.Barker` under replace-one adjacency.

Without privacy nothing is clipped and C = 1 will do; where s^2 > C the batch grows until it is not, by records
that are not in it yet. The authors' code also drew another proposal then, which favours moves that are easy to
judge; here the proposal stays.

`full_batch` tests on all records, without subsampling (Sect. 3.2); exact chains are references.

With r_i the tempered log-likelihood ratio of record i, the private test accepts if
    N(sum of clip(r_i), C) + V_cor + log prior ratio > 0.
Guarantee: every |r_i| is at most B = sqrt(C) / noise_multiplier, so that adding or removing a record moves the
mean by at most B, and replacing one by at most 2 B (Theorem 1): each test is one `events.FullBarker`.

Without privacy the test is Barker's, with logistic noise, or that of Metropolis and Hastings.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Barker, Event, FullBarker, NonPrivate, Repeat
from dpinfer.errors import InputError
from dpinfer.inference import chain
from dpinfer.inference.base import Algorithm
from dpinfer.inference.chain import State, Tested, TestNoise, moved, proposal_of
from dpinfer.inference.correction import Correction
from dpinfer.inference.names import THEOREM_2_VARIANCE, ExactTest, ProposalName
from dpinfer.models.base import Model
from dpinfer.sampling.base import require_size
from dpinfer.sampling.feistel import permute, round_keys
from dpinfer.types import Key, Records, Tree

MARGIN = 0.99
"""Ratios are clipped a little within what the proof allows, as in the authors' code: no rounding crosses it."""


class MinibatchRandomness(NamedTuple):
    """All that is random about a step.

    Attributes:
        order: Keys of a permutation of the records; a batch is the first of it.
        move: What is proposed.
        noise: The noise of the test.
    """

    order: jax.Array
    move: Tree
    noise: TestNoise


class RatioEstimate(NamedTuple):
    """What a batch tells: mean and variance (over the batch) of the ratios, how many, how many were clipped."""

    mean: jax.Array
    variance: jax.Array
    size: jax.Array
    clipped: jax.Array


def minibatch(
    model: Model,
    noise_multiplier: float | None,
    correction: Correction | None,
    num_records: int,
    *,
    batch: int,
    growth: int = 100,
    proposal: ProposalName = "gaussian",
    proposal_variance: float | None = None,
    proposal_radius: float | None = None,
    noise_variance: float = THEOREM_2_VARIANCE,
    tempered_records: int | None = None,
    burn_in: int = 0,
    is_private: bool = True,
) -> Algorithm:
    """Build the chain: private if there is a noise multiplier, which the batch has fixed.

    Args:
        model: What is learnt.
        noise_multiplier: Noise standard deviation over the most that a record adds; None runs without privacy.
        correction: The rest of the logistic noise; without it, the chain may state its event but not run.
        num_records: Number of all records, which is public.
        batch: Records in a batch, drawn without replacement.
        growth: Records that join a batch whose estimate is too wide, without privacy.
        proposal: How numbers are moved.
        proposal_variance: Variance of a normal move.
        proposal_radius: Radius of the ball of moves.
        noise_variance: Variance C of the normal part of the logistic noise.
        tempered_records: The likelihood counts as that of so many records, N0; by default as it is.
        burn_in: First steps, which running moments leave out.
        is_private: Whether noise is taken at all.

    Raises:
        InputError: The noise is not that of the event.
    """
    require_size(num_records, batch)
    if noise_multiplier is not None:
        _require_theorem_2(noise_multiplier, math.sqrt(batch) if is_private else None, noise_variance)
    moves = proposal_of(proposal, proposal_variance, proposal_radius)
    tempered = float(tempered_records or num_records)
    is_noisy = noise_multiplier is not None
    bound = MARGIN * math.sqrt(batch) / tempered if is_noisy else math.inf

    def random(key: Key, state: State) -> MinibatchRandomness:
        key_order, key_move, key_noise = jax.random.split(key, 3)
        move = moves.random(key_move, state.parameters)
        return MinibatchRandomness(round_keys(key_order), move, chain.noise(key_noise))

    def update(drawn: MinibatchRandomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        there = moved(state.parameters, drawn.move)

        def look(first: jax.Array | int, count: int) -> RatioEstimate:
            """The ratios of `count` records of the permutation from place `first` on."""
            places = first + jnp.arange(count)
            rows = permute(drawn.order, jnp.minimum(places, num_records - 1), num_records)
            chosen = {name: array[rows] for name, array in records.items()}
            raw = chain.ratios(model, state.parameters, there, chosen)
            return _estimate(jnp.clip(raw, -bound, bound), jnp.abs(raw) > bound, places < num_records)

        def variance(of: RatioEstimate) -> jax.Array:
            # All records together leave nothing to chance.
            return jnp.where(of.size < num_records, tempered**2 * of.variance / of.size, 0.0)

        seen = look(0, batch)
        if not is_noisy:
            seen = jax.lax.while_loop(
                lambda so_far: variance(so_far) > noise_variance,
                lambda so_far: _join(so_far, look(so_far.size.astype(int), growth)),
                seen,
            )
        accept = chain.is_accepted(
            tempered * seen.mean,
            noise_variance - variance(seen),
            drawn.noise,
            correction,
            model.log_prior(there) - model.log_prior(state.parameters),
        )
        tested = Tested(accept, seen.clipped, seen.size, variance(seen))
        return chain.move_or_stay(state, drawn.move, tested, burn_in), ()

    def event(num_steps: int) -> Event:
        one: Event = (
            Barker(batch=batch, records=num_records)
            if is_noisy
            else NonPrivate(reason="neither clipped nor on batches of a fixed size")
        )
        return Repeat(event=one, count=num_steps)

    return Algorithm(chain.start(model), random, update, chain.here, event, chain.keep)


def _require_theorem_2(noise_multiplier: float, allowed: float | None, noise_variance: float) -> None:
    """Refuse noise for which `events.Barker` does not hold."""
    if noise_multiplier != allowed:
        raise InputError(
            f"noise_multiplier is {noise_multiplier}, but these settings allow {allowed} alone: "
            "the batch fixes the noise of a private test, and without privacy there is none"
        )
    if noise_variance != THEOREM_2_VARIANCE:
        raise InputError(
            f"noise_variance is {noise_variance:g}, but a private test on batches needs {THEOREM_2_VARIANCE:g}"
        )


def _estimate(ratios: jax.Array, clipped: jax.Array, mask: jax.Array) -> RatioEstimate:
    size = mask.sum().astype(jnp.float32)
    mean = jnp.where(mask, ratios, 0.0).sum() / size
    variance = jnp.where(mask, (ratios - mean) ** 2, 0.0).sum() / size
    return RatioEstimate(mean, variance, size, (clipped & mask).sum().astype(jnp.float32))


def _join(one: RatioEstimate, other: RatioEstimate) -> RatioEstimate:
    """The estimate of two batches together (Chan's formula for the variance)."""
    size = one.size + other.size
    share = other.size / size
    gap = other.mean - one.mean
    variance = (1 - share) * one.variance + share * other.variance + share * (1 - share) * gap**2
    return RatioEstimate(one.mean + share * gap, variance, size, one.clipped + other.clipped)


class FullBatchRandomness(NamedTuple):
    """All that is random about a step: what is proposed, the noise of a private test, a logit for an exact one."""

    move: Tree
    noise: TestNoise
    logit: jax.Array


def full_batch(
    model: Model,
    noise_multiplier: float | None,
    correction: Correction | None,
    num_records: int,
    *,
    test: ExactTest = "barker",
    proposal: ProposalName = "gaussian",
    proposal_variance: float | None = None,
    proposal_radius: float | None = None,
    noise_variance: float = THEOREM_2_VARIANCE,
    tempered_records: int | None = None,
    burn_in: int = 0,
) -> Algorithm:
    """Build the chain: private if there is a noise multiplier.

    Args:
        model: What is learnt.
        noise_multiplier: Noise standard deviation over the most that a record adds; None runs without privacy.
        correction: The rest of the logistic noise; without it, the chain may state its event but not run.
        num_records: Number of all records, which is public.
        test: Which exact test a run without privacy makes.
        proposal: How numbers are moved.
        proposal_variance: Variance of a normal move.
        proposal_radius: Radius of the ball of moves.
        noise_variance: Variance C of the normal part of the logistic noise.
        tempered_records: The likelihood counts as that of so many records, N0; by default as it is.
        burn_in: First steps, which running moments leave out.

    Raises:
        InputError: The noise multiplier is not a positive number.
    """
    if noise_multiplier is not None and not 0 < noise_multiplier < math.inf:
        raise InputError(f"noise_multiplier is {noise_multiplier}, but should be above 0, or none without privacy")
    moves = proposal_of(proposal, proposal_variance, proposal_radius)
    temperature = (tempered_records or num_records) / num_records
    bound = math.inf if noise_multiplier is None else math.sqrt(noise_variance) / noise_multiplier

    def random(key: Key, state: State) -> FullBatchRandomness:
        key_move, key_noise, key_logit = jax.random.split(key, 3)
        logit = jax.random.logistic(key_logit)
        return FullBatchRandomness(moves.random(key_move, state.parameters), chain.noise(key_noise), logit)

    def update(drawn: FullBatchRandomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        there = moved(state.parameters, drawn.move)
        raw = temperature * chain.ratios(model, state.parameters, there, records)
        ratio = jnp.clip(raw, -bound, bound).sum()
        prior = model.log_prior(there) - model.log_prior(state.parameters)
        if noise_multiplier is not None:
            variance = jnp.asarray(noise_variance)
            accept = chain.is_accepted(ratio, variance, drawn.noise, correction, prior)
        elif test == "barker":
            accept = ratio + prior + drawn.logit > 0
        else:
            # log of a uniform variable, from the same draw.
            accept = ratio + prior > jax.nn.log_sigmoid(drawn.logit)
        tested = Tested(accept, (jnp.abs(raw) > bound).sum(), jnp.asarray(num_records), jnp.zeros(()))
        return chain.move_or_stay(state, drawn.move, tested, burn_in), ()

    def event(num_steps: int) -> Event:
        one: Event = (
            NonPrivate(reason="an exact test on all records")
            if noise_multiplier is None
            else FullBarker(bound=bound, variance=noise_variance)
        )
        return Repeat(event=one, count=num_steps)

    return Algorithm(chain.start(model), random, update, chain.here, event, chain.keep)
