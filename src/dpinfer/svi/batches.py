"""Batches for loops of one's own, by the names of d3p: each gives `(init, get_batch)`.

`init(key)` gives the number of batches in an epoch and a state; `get_batch(i, state)` gives batch number i. The
same number and state give the same batch, which no account allows for: each epoch needs a key of its own.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.errors import InputError
from dpinfer.random.keys import stream
from dpinfer.sampling.base import Batch, require_size
from dpinfer.sampling.feistel import permute, round_keys
from dpinfer.sampling.fixed_size import subset
from dpinfer.sampling.poisson import poisson
from dpinfer.svi.arguments import length, typed
from dpinfer.svi.charge import is_traced
from dpinfer.types import Key

Arrays = tuple[jax.Array, ...]
Init = Callable[[Key], tuple[int, Any]]


def subsample_batchify_data(
    dataset: Sequence[Any], batch_size: int | None = None, q: float | None = None, with_replacement: bool = False
) -> tuple[Init, Callable[[int, Key], Arrays]]:
    """Batches of fixed size, each drawn afresh without replacement.

    Account for them with `sampler="subset"`.
    """
    if with_replacement:
        raise InputError(
            "with_replacement is true, but a record that can be drawn twice moves a sum by more than one clip"
        )
    records, num_records, size = _prepared(dataset, batch_size, q)
    sampler = subset(num_records, size)

    @jax.jit
    def get_batch(i: int, key: Key) -> Arrays:
        return _take(records, sampler.draw(jax.random.fold_in(key, i)))

    return _init(num_records // size), get_batch


def poisson_batchify_data(
    dataset: Sequence[Any], q: float, num_iter: int = 1_000_000
) -> tuple[Init, Callable[[int, Key], tuple[Arrays, jax.Array]]]:
    """Batches that every record enters with probability q, independently; `get_batch` gives `(batch, mask)`.

    Batches are padded to one size, which no count of `num_iter` batches exceeds but with probability 1e-12. Give
    the mask to `DPSVI.update`, and `expected_batch = q * number of records` to `DPSVI`.
    """
    records, num_records, _ = _prepared(dataset, None, q)
    sampler = poisson(num_records, q, num_iter)

    @jax.jit
    def get_batch(i: int, key: Key) -> tuple[Arrays, jax.Array]:
        batch = sampler.draw(jax.random.fold_in(key, i))
        return _take(records, batch), batch.mask

    return _init(max(1, int(1 / q))), get_batch


def split_batchify_data(
    dataset: Sequence[Any], batch_size: int | None = None, q: float | None = None
) -> tuple[Init, Callable[[int, jax.Array], Arrays]]:
    """Batches that go through a shuffled data set once, for evaluation; the last incomplete one is left out.

    No accountant here covers training on them: batches of an epoch are not independent.
    """
    records, num_records, size = _prepared(dataset, batch_size, q)
    number = num_records // size

    def init(key: Key) -> tuple[int, jax.Array]:
        return number, round_keys(_own(key))

    @jax.jit
    def get_batch(i: int, keys: jax.Array) -> Arrays:
        # The permutation is evaluated only where it is needed: nothing of the size of the data is shuffled.
        rows = permute(keys, (i % number) * size + jnp.arange(size), num_records)
        return _take(records, Batch(rows, jnp.ones(size, bool)))

    return init, get_batch


def _prepared(dataset: Sequence[Any], batch_size: int | None, q: float | None) -> tuple[Arrays, int, int]:
    """The records as arrays, their number, and the size of a batch."""
    records = tuple(jnp.asarray(array) for array in dataset)
    if not records:
        raise InputError("the data set has no arrays")
    num_records = length(records)
    if (batch_size is None) == (q is None):
        raise InputError("exactly one of batch_size and q should be given")
    if q is not None and not 0 < q <= 1:
        raise InputError(f"q is {q}, but should lie in (0, 1]")
    size = batch_size if batch_size is not None else max(1, int(num_records * (q or 1)))
    require_size(num_records, size)
    return records, num_records, size


def _init(number: int) -> Init:
    """Begin an epoch, by a key that no other epoch has: their batches would be the same."""
    seen = set[bytes]()

    def init(key: Key) -> tuple[int, Key]:
        own = _own(key)
        if not is_traced(own):
            name = np.asarray(jax.random.key_data(own)).tobytes()
            if name in seen:
                raise InputError(
                    "an epoch has begun with this key before, so that all its batches would be drawn again: split "
                    "off a new key for every epoch"
                )
            seen.add(name)
        return number, own

    return init


def _own(key: Key) -> Key:
    # A user's key may serve the batches and the inference, as in the paper's listing; their streams must differ.
    return stream(typed(key), "batches")


def _take(records: Arrays, batch: Batch) -> Arrays:
    return tuple(array[batch.rows] for array in records)
