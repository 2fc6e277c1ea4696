"""Each place of a plan that was paid for has one release: programs ask for theirs, also when they are compiled."""

import jax
import numpy as np
from jax.experimental import io_callback

from dpinfer.accounting.budget import Budget
from dpinfer.types import Key


def claimed(budget: Budget, place: Key, release: Key, wanted: jax.Array) -> jax.Array:
    """Whether a release may be made at a place; the same one may be made again, which tells nothing new.

    Args:
        budget: What has paid for the place.
        place: A key that no other place has.
        release: The key of its noise, which any other release would have another of.
        wanted: Whether the release is in order else: if not, nothing is asked for.
    """

    def ask(place: np.ndarray, release: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        names = (np.asarray(words).tobytes() for words in (place, release))
        return np.asarray(bool(wanted) and budget.claim(*names))

    words = (jax.random.key_data(key) for key in (place, release))
    return io_callback(ask, jax.ShapeDtypeStruct((), bool), *words, wanted)
