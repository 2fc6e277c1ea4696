"""Each place of a run that was paid for has one release: programs ask for theirs, also when they are compiled."""

from uuid import uuid4

import jax
import numpy as np
from jax.experimental import io_callback

from dpinfer.accounting.budget import Budget
from dpinfer.accounting.events import Event
from dpinfer.types import Key

NOBODY = np.zeros(2, np.uint32)
"""The words of a run that nobody pays for."""


def new_run() -> np.ndarray:
    """(2,) words by which a budget knows a run."""
    return np.frombuffer(uuid4().bytes[:8], np.uint32)


def name_of(run: np.ndarray | jax.Array) -> str:
    """What a budget calls a run."""
    first, second = np.asarray(run).tolist()
    return f"run {first:08x}{second:08x}"


def claimed(
    budget: Budget, event: Event, run: jax.Array, step: jax.Array, release: Key, wanted: jax.Array
) -> dict[str, jax.Array]:
    """What must be so for a release, by name: the budget knows its run, and no other was made at its place.

    The same release may be made again, which tells nothing new.

    Args:
        budget: What has paid for the run.
        event: What one of its steps tells about the records.
        run: (2,) words of it.
        step: Which of its steps it is.
        release: The key of its noise, which any other release would have another of.
        wanted: Whether the release is in order else: if not, nothing is claimed.
    """

    def ask(run: np.ndarray, step: np.ndarray, release: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        known = budget.knows(name_of(run), event)
        return np.asarray([known, known and bool(wanted) and budget.claim(place_of(run, step), release.tobytes())])

    asked = io_callback(
        lambda *words: ask(*map(np.asarray, words)), jax.ShapeDtypeStruct((2,), bool),
        run, step, jax.random.key_data(release), wanted,
    )  # fmt: skip
    return {"known": asked[0], "only": asked[1]}


def place_of(run: np.ndarray | jax.Array, step: np.ndarray | int) -> bytes:
    """The name of a step of a run."""
    return f"{name_of(run)}, step {int(step)}".encode()
