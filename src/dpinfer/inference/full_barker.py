"""Tests on all records: DP-MCMC without subsampling (arXiv:1901.10275, Sect. 3.2), and exact chains as references.

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

from dpinfer.accounting.events import Event, NonPrivate, Repeat
from dpinfer.accounting.events import FullBarker as FullBarkerEvent
from dpinfer.errors import InputError
from dpinfer.inference import chain
from dpinfer.inference.base import Algorithm
from dpinfer.inference.chain import Noise, State, Tested
from dpinfer.inference.correction import Correction
from dpinfer.inference.names import THEOREM_2_VARIANCE, ExactTest, ProposalName
from dpinfer.inference.proposal import moved, proposal_of
from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree


class Randomness(NamedTuple):
    """All that is random about a step: what is proposed, the noise of a private test, a logit for an exact one."""

    move: Tree
    noise: Noise
    logit: jax.Array


def build(
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

    def random(key: Key, state: State) -> Randomness:
        key_move, key_noise, key_logit = jax.random.split(key, 3)
        logit = jax.random.logistic(key_logit)
        return Randomness(moves.random(key_move, state.parameters), chain.noise(key_noise), logit)

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
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
            else FullBarkerEvent(bound=bound, variance=noise_variance)
        )
        return Repeat(event=one, count=num_steps)

    return Algorithm(chain.start(model), random, update, chain.here, event, chain.keep)
