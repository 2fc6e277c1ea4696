"""No privacy, in the shape of a mechanism: the baselines of every comparison."""

import jax

from dpinfer.accounting.events import NonPrivate
from dpinfer.mechanism.base import Mechanism
from dpinfer.types import Key, Tree


def exact() -> Mechanism:
    """Release the plain sum, neither clipped nor perturbed."""

    def release(key: Key, contributions: Tree) -> Tree:
        del key  # there is nothing random about it
        return jax.tree.map(lambda leaf: leaf.sum(axis=0), contributions)

    return Mechanism(release, NonPrivate(reason="run without privacy, as a baseline"))
