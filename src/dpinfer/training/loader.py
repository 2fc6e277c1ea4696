"""Batches for training loops, each with the epsilon that a step on it brings the total to."""

import zlib
from collections.abc import Iterator

import jax
import jax.numpy as jnp

from dpinfer.errors import InputError
from dpinfer.training.optimiser import Batch, Optimiser
from dpinfer.types import Key, Tree

# One key may serve the loader and the optimiser's noise; their streams must differ.
PURPOSE = zlib.crc32(b"loader")


class Loader:
    """Draws batches as an optimiser's account takes them to be drawn.

    Going through it once is an epoch: as many batches as hold, in expectation, all records once. It ends early,
    with nothing lost, before a batch whose step the optimiser's budget would not allow.
    """

    def __init__(self, optimiser: Optimiser, records: Tree, key: Key) -> None:
        """Keep the records on the device.

        Args:
            optimiser: Whose sampler and whose account are used.
            records: Arrays in any nesting, whose leading axis counts records.
            key: For all batches that will be drawn.
        """
        self._records = jax.tree.map(jnp.asarray, records)
        sizes = {leaf.shape[0] for leaf in jax.tree.leaves(self._records)}
        if sizes != {optimiser.num_records}:
            found = ", ".join(str(size) for size in sorted(sizes)) or "no"
            expected = optimiser.num_records
            raise InputError(f"the data have {found} records, but the optimiser was made for {expected}")
        self._accountant, self._drawn = optimiser.accountant, 0
        self._key = jax.random.fold_in(key, PURPOSE)
        self._length = max(1, round(optimiser.num_records / optimiser.sampler.expected))

        @jax.jit
        def draw(key: Key, number: int, records: Tree) -> Batch:
            batch = optimiser.sampler.draw(jax.random.fold_in(key, number))
            return Batch(jax.tree.map(lambda leaf: leaf[batch.rows], records), batch.mask)

        self._draw = draw

    def __len__(self) -> int:
        """Batches of an epoch."""
        return self._length

    def __iter__(self) -> Iterator[tuple[Batch, float]]:
        """Give every batch of an epoch, and the epsilon once a step has been made on it."""
        for _ in range(self._length):
            if not self._accountant.allows_another:
                return
            batch = self._draw(self._key, self._drawn, self._records)
            self._drawn += 1
            yield batch, self._accountant.next_epsilon
