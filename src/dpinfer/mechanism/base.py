"""What every mechanism is."""

from collections.abc import Callable
from typing import NamedTuple

import jax

from dpinfer.accounting.events import Event
from dpinfer.types import Key, Loss, Tree


class Mechanism(NamedTuple):
    """Releases the sum of the gradients of a loss over examples, and says what that costs.

    What is random about a release is drawn apart from it, by `random`, so that many steps' worth can be drawn at
    once; a release is a function of it.

    Attributes:
        random: `(key, parameters) -> noise`; of the parameters it uses the shapes alone.
        release: `(noise, loss, parameters, examples, mask) -> sum`, where `loss(parameters, example)` is a scalar,
            every leaf of examples has a leading axis, and masked-out examples count nothing.
        event: What one release on all records tells about them.
        noise_std: Standard deviation of the noise on every coordinate of the sum.
        numbers: What sum and noise are made of, in words for a reader of the ledger.
    """

    random: Callable[[Key, Tree], Tree]
    release: Callable[[Tree, Loss, Tree, Tree, jax.Array], Tree]
    event: Event
    noise_std: float | jax.Array = 0.0
    numbers: str = "floating-point numbers, whose last bits no proof covers: for trials alone"
