"""What chains that propose and test have in common: their moves, their state, and what is kept of it.

Moves that a chain proposes. All are symmetric, so that the ratio of proposals drops out of the test.

Whole-number parameters go one down, stay, or go one up; where that leaves their support, the prior says so.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.errors import InputError
from dpinfer.inference import correction, running_moments
from dpinfer.inference.correction import Correction
from dpinfer.inference.names import ProposalName
from dpinfer.inference.running_moments import RunningMoments
from dpinfer.models.base import Model, nothing_local
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records, Tree


class Proposal(NamedTuple):
    """How to move.

    Attributes:
        random: `(key, parameters) -> move`; of the parameters it uses shapes and types alone.
        reach: Largest norm of a move of the parameters that are not whole numbers, infinite where there is none.
    """

    random: Callable[[Key, Tree], Tree]
    reach: float


def proposal_of(name: ProposalName, variance: float | None, radius: float | None) -> Proposal:
    """A normal move of that variance, or one from the ball of that radius.

    Raises:
        InputError: Its size is not given.
    """
    size = radius if name == "ball" else variance
    if size is None:
        wanted = "proposal_radius" if name == "ball" else "proposal_variance"
        raise InputError(f"{wanted} should be given for the proposal {name}")
    if name == "ball":
        return Proposal(_with_whole_numbers(lambda key, tree: _in_ball(key, tree, size)), size)
    deviation = jnp.sqrt(size)

    def gaussian(key: Key, tree: Tree) -> Tree:
        return jax.tree.map(lambda unit: deviation * unit, normal_like(key, tree))

    return Proposal(_with_whole_numbers(gaussian), float("inf"))


def moved(parameters: Tree, move: Tree) -> Tree:
    """Where a move leads."""
    return jax.tree.map(jnp.add, parameters, move)


def _in_ball(key: Key, tree: Tree, radius: float) -> Tree:
    """A uniform draw from the ball around 0: a normal direction, and the size^(1/dimension) of a uniform one."""
    key_direction, key_size = jax.random.split(key)
    direction = normal_like(key_direction, tree)
    dimension = sum(leaf.size for leaf in jax.tree.leaves(direction))
    norm = jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(direction)))
    size = radius * jax.random.uniform(key_size) ** (1 / dimension)
    return jax.tree.map(lambda leaf: leaf * (size / norm), direction)


def _with_whole_numbers(move: Callable[[Key, Tree], Tree]) -> Callable[[Key, Tree], Tree]:
    """Move whole numbers by -1, 0 or 1, and all others by `move`."""

    def random(key: Key, parameters: Tree) -> Tree:
        leaves, structure = jax.tree.flatten(parameters)
        whole = [jnp.issubdtype(leaf.dtype, jnp.integer) for leaf in leaves]
        key_others, *keys = jax.random.split(key, 1 + len(leaves))
        others = [leaf for leaf, is_whole in zip(leaves, whole, strict=True) if not is_whole]
        moves = iter(move(key_others, others)) if others else iter(())
        drawn = [
            jax.random.randint(own, leaf.shape, -1, 2, leaf.dtype) if is_whole else next(moves)
            for own, leaf, is_whole in zip(keys, leaves, whole, strict=True)
        ]
        return jax.tree.unflatten(structure, drawn)

    return random


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
    clipped: running_moments.Sum
    seen: running_moments.Sum
    largest_variance: jax.Array


class State(NamedTuple):
    """Where a chain is, and what it has seen on the way. Only `parameters` has a say in what follows."""

    parameters: Tree
    moments: RunningMoments
    counts: Counts


class Tested(NamedTuple):
    """The outcome of one test."""

    accept: jax.Array
    clipped: jax.Array
    seen: jax.Array
    variance: jax.Array


class TestNoise(NamedTuple):
    """What makes a test random: a standard normal number, and the rest of the logistic noise."""

    normal: jax.Array
    correction: correction.Randomness


def start(model: Model) -> Callable[[Key, Records], State]:
    """How a chain on that model starts."""
    if model.local is not nothing_local:
        raise InputError("a chain needs the likelihood itself, but this model draws what it integrates out")

    def init(key: Key, records: Records) -> State:
        parameters = model.init(key, records)
        none = running_moments.Sum(jnp.zeros(()), jnp.zeros(()))
        return State(
            parameters, running_moments.zero(parameters), Counts(jnp.asarray(0), none, none, jnp.zeros(()))
        )

    return init


def noise(key: Key) -> TestNoise:
    """Draw the noise of one test."""
    key_normal, key_correction = jax.random.split(key)
    return TestNoise(jax.random.normal(key_normal), correction.random(key_correction))


def is_accepted(
    mean: jax.Array, variance: jax.Array, drawn: TestNoise, fitted: Correction | None, log_prior_ratio: jax.Array
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
        running_moments.add(state.moments, parameters, burn_in),
        Counts(
            counts.accepted + tested.accept,
            running_moments.plus(counts.clipped, tested.clipped.astype(jnp.float32)),
            running_moments.plus(counts.seen, tested.seen.astype(jnp.float32)),
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
