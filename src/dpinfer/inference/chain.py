"""What chains that propose and test have in common: their state, and what is kept of it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.errors import InputError
from dpinfer.inference import correction, running
from dpinfer.inference.correction import Correction
from dpinfer.inference.proposal import moved
from dpinfer.inference.running import Moments
from dpinfer.models.base import Model, nothing_local
from dpinfer.types import Key, Records, Tree


class Counts(NamedTuple):
    """What tests have met so far.

    All but `accepted`, which the chain itself tells, are facts about the records that no noise hides: they are for
    experiments, and no part of what a chain's epsilon covers.

    Attributes:
        accepted: Moves that were accepted.
        clipped: Ratios that were clipped, and `seen`, ratios that were looked at; their shares are what counts.
        largest_variance: The largest variance of an estimate of the log acceptance ratio.
    """

    accepted: jax.Array
    clipped: running.Sum
    seen: running.Sum
    largest_variance: jax.Array


class State(NamedTuple):
    """Where a chain is, and what it has seen on the way. Only `parameters` has a say in what follows."""

    parameters: Tree
    moments: Moments
    counts: Counts


class Tested(NamedTuple):
    """The outcome of one test."""

    accept: jax.Array
    clipped: jax.Array
    seen: jax.Array
    variance: jax.Array


class Noise(NamedTuple):
    """What makes a test random: a standard normal number, and the rest of the logistic noise."""

    normal: jax.Array
    correction: correction.Randomness


def start(model: Model) -> Callable[[Key, Records], State]:
    """How a chain on that model starts."""
    if model.local is not nothing_local:
        raise InputError("a chain needs the likelihood itself, but this model draws what it integrates out")

    def init(key: Key, records: Records) -> State:
        parameters = model.init(key, records)
        none = running.Sum(jnp.zeros(()), jnp.zeros(()))
        return State(parameters, running.zero(parameters), Counts(jnp.asarray(0), none, none, jnp.zeros(())))

    return init


def noise(key: Key) -> Noise:
    """Draw the noise of one test."""
    key_normal, key_correction = jax.random.split(key)
    return Noise(jax.random.normal(key_normal), correction.random(key_correction))


def is_accepted(
    mean: jax.Array, variance: jax.Array, drawn: Noise, fitted: Correction | None, log_prior_ratio: jax.Array
) -> jax.Array:
    """Barker's test: N(mean, variance) + V_cor + log prior ratio > 0.

    The normal draw alone sees the records; what joins it afterwards does not. Where the prior does not allow a
    move, its ratio is minus infinity or undefined, and the move is refused.
    """
    if fitted is None:
        raise InputError("a chain needs the correction that makes its noise logistic, and was built without one")
    released = mean + jnp.sqrt(variance) * drawn.normal
    return released + correction.draw(fitted, drawn.correction) + log_prior_ratio > 0


def ratios(model: Model, before: Tree, after: Tree, records: Records) -> jax.Array:
    """Log p(x_i | after) - log p(x_i | before) of every record; 0 where both vanish or one is not a number."""

    def one(record: Records) -> jax.Array:
        return model.log_likelihood(after, record) - model.log_likelihood(before, record)

    each = jax.vmap(one)(records)
    # A bound on every record's ratio must hold whatever the record: clipping would let what is no number through.
    return jnp.where(jnp.isnan(each), 0.0, each)


def move_or_stay(state: State, move: Tree, tested: Tested, burn_in: int) -> State:
    """The state after a test."""
    there = moved(state.parameters, move)
    parameters = jax.tree.map(lambda new, old: jnp.where(tested.accept, new, old), there, state.parameters)
    counts = state.counts
    return State(
        parameters,
        running.add(state.moments, parameters, burn_in),
        Counts(
            counts.accepted + tested.accept,
            running.plus(counts.clipped, tested.clipped.astype(jnp.float32)),
            running.plus(counts.seen, tested.seen.astype(jnp.float32)),
            jnp.maximum(counts.largest_variance, tested.variance),
        ),
    )


def keep(state: State, info: Any) -> State:
    """All of the state: a chain is its recordings."""
    del info
    return state


def here(key: Key, state: State) -> Tree:
    """The chain's position, which is one draw of the posterior."""
    del key
    return state.parameters
