"""What the tests of a chain have met: acceptance, clipping, and the noise that a batch brings with it.

Only the acceptance follows from what a private chain releases. The others are facts about the records, shown
because these records are generated; the epsilons beside them are the chain's.
"""

from typing import Any

import jax

from dpinfer.inference.running import Sum
from dpinfer.models.base import Model
from dpinfer.types import Key, Records


def whole(key: Key, model: Model, trace: Any, train: Records, test: Records) -> dict[str, jax.Array]:
    """Shares of accepted moves and clipped ratios, the mean batch, the largest variance of an estimate."""
    del key, model, train, test
    counts, steps = jax.tree.map(lambda leaf: leaf[-1], (trace.counts, trace.moments.step))
    seen = _value(counts.seen)
    return {
        "acceptance": counts.accepted / steps,
        "clipped": _value(counts.clipped) / seen,
        "batch": seen / steps,
        "largest_variance": counts.largest_variance,
    }


def _value(total: Sum) -> jax.Array:
    return total.high - total.low
