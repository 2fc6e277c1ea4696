"""States written now and then, from which a killed run goes on."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from dpinfer.atomic import replacing


class Kept(NamedTuple):
    """What a checkpoint holds."""

    done: int
    states: Any
    traces: list[list[np.ndarray]]


class Checkpoint:
    """A file with the state of a run.

    Args:
        path: The .npz to write, under a temporary name first.
        identity: What must be equal for a run to go on from it, such as settings and code; a file of another
            identity is as good as none.
        seconds: Least time between two writes.
    """

    def __init__(self, path: Path, identity: str, seconds: float = 30.0) -> None:
        self.path = path
        self.identity = identity
        self.seconds = seconds
        self._written = time.monotonic()

    def write(self, done: int, states: Any, traces: list[list[np.ndarray]]) -> None:
        """Keep the state after `done` steps, unless the last write was a moment ago."""
        if time.monotonic() - self._written < self.seconds:
            return
        trace = [np.concatenate(parts, axis=1) for parts in zip(*traces, strict=True)]
        named = {f"state{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(states))}
        named |= {f"trace{i}": leaf for i, leaf in enumerate(trace)}
        with replacing(self.path) as temporary:
            np.savez(temporary, allow_pickle=False, done=done, identity=self.identity, **named)
        self._written = time.monotonic()

    def read(self, like: Any) -> Kept | None:
        """Return what was kept, in the shape of the states `like`, or None if there is nothing to go on from."""
        if not self.path.is_file():
            return None
        with np.load(self.path, allow_pickle=False) as stored:
            if str(stored["identity"]) != self.identity:
                return None
            states = [stored[f"state{i}"] for i in range(len(jax.tree.leaves(like)))]
            recorded = sum(name.startswith("trace") for name in stored.files)
            trace = [stored[f"trace{i}"] for i in range(recorded)]
            return Kept(int(stored["done"]), jax.tree.unflatten(jax.tree.structure(like), states), [trace])

    def remove(self) -> None:
        """Forget the run: it has ended."""
        self.path.unlink(missing_ok=True)
