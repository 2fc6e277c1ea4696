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
from dpinfer.inference import chain
from dpinfer.inference.base import Algorithm
from dpinfer.inference.chain import Noise, State, Tested
from dpinfer.inference.correction import Correction
from dpinfer.inference.proposal import moved, proposal_of
from dpinfer.models.base import Model
from dpinfer.settings.chain import FullBarker
from dpinfer.types import Key, Records, Tree


class Randomness(NamedTuple):
    """All that is random about a step: what is proposed, the noise of a private test, a logit for an exact one."""

    move: Tree
    noise: Noise
    logit: jax.Array


def build(
    settings: FullBarker,
    model: Model,
    noise_multiplier: float | None,
    correction: Correction | None,
    num_records: int,
) -> Algorithm:
    """Build the chain: private if there is a noise multiplier."""
    proposal = proposal_of(settings)
    temperature = (settings.tempered_records or num_records) / num_records
    bound = math.inf if noise_multiplier is None else math.sqrt(settings.noise_variance) / noise_multiplier

    def random(key: Key, state: State) -> Randomness:
        key_move, key_noise, key_logit = jax.random.split(key, 3)
        logit = jax.random.logistic(key_logit)
        return Randomness(proposal.random(key_move, state.parameters), chain.noise(key_noise), logit)

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        there = moved(state.parameters, drawn.move)
        raw = temperature * chain.ratios(model, state.parameters, there, records)
        ratio = jnp.clip(raw, -bound, bound).sum()
        prior = model.log_prior(there) - model.log_prior(state.parameters)
        if noise_multiplier is not None:
            variance = jnp.asarray(settings.noise_variance)
            accept = chain.is_accepted(ratio, variance, drawn.noise, correction, prior)
        elif settings.test == "barker":
            accept = ratio + prior + drawn.logit > 0
        else:
            # log of a uniform variable, from the same draw.
            accept = ratio + prior > jax.nn.log_sigmoid(drawn.logit)
        tested = Tested(accept, (jnp.abs(raw) > bound).sum(), jnp.asarray(num_records), jnp.zeros(()))
        return chain.move_or_stay(state, drawn.move, tested, settings.burn_in), ()

    def event(num_steps: int) -> Event:
        one: Event = (
            NonPrivate(reason="an exact test on all records")
            if noise_multiplier is None
            else FullBarkerEvent(bound=bound, variance=settings.noise_variance)
        )
        return Repeat(event=one, count=num_steps)

    return Algorithm(chain.start(model), random, update, chain.here, event, chain.keep)
