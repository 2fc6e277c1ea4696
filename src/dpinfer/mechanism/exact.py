"""No privacy, in the shape of a mechanism: the baselines of every comparison."""

import jax

from dpinfer.accounting.events import NonPrivate
from dpinfer.clipping.sums import clipped_sum, plain_sum
from dpinfer.mechanism.base import Mechanism
from dpinfer.types import Key, Loss, Tree


def exact() -> Mechanism:
    """Release the plain sum, neither clipped nor perturbed."""

    def release(noise: Tree, loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
        del noise
        return plain_sum(loss, parameters, examples, mask)

    return Mechanism(_nothing, release, NonPrivate(reason="run without privacy, as a baseline"))


def clip_only(clip: float, micro_batch: int | None = None, examples_per_record: int = 1) -> Mechanism:
    """Clip each example's gradient, but add no noise: shows what clipping alone does to a result."""
    bound = clip / examples_per_record

    def release(noise: Tree, loss: Loss, parameters: Tree, examples: Tree, mask: jax.Array) -> Tree:
        del noise
        return clipped_sum(loss, parameters, examples, mask, bound, micro_batch).total

    return Mechanism(_nothing, release, NonPrivate(reason="clipped, but run without noise"))


def _nothing(key: Key, parameters: Tree) -> Tree:
    del key, parameters
    return ()
