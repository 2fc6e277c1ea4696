"""Moves that a chain proposes. All are symmetric, so that the ratio of proposals drops out of the test.

Whole-number parameters go one down, stay, or go one up; where that leaves their support, the prior says so.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.errors import InputError
from dpinfer.inference.names import ProposalName
from dpinfer.tree import normal_like
from dpinfer.types import Key, Tree


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
