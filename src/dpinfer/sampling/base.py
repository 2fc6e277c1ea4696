"""What a sampler gives, and what it must state about itself."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event, Gaussian, NonPrivate, SubsetGaussian
from dpinfer.errors import InputError
from dpinfer.types import Key, Records

MAX_RECORDS = 2**31 - 1
"""Indices are 32-bit integers."""


class Batch(NamedTuple):
    """Records chosen for one step, padded to a fixed size.

    Attributes:
        rows: (capacity,) positions of records, valid also where they are padding.
        mask: (capacity,) whether an entry is in the batch or padding.
    """

    rows: jax.Array
    mask: jax.Array


class Sampler(NamedTuple):
    """Chooses the records of a step.

    Attributes:
        draw: `key -> Batch`.
        expected: Expected size of a batch, which is public; sums are divided by it.
        event: What a release on all records becomes when it is made on a sample.
    """

    draw: Callable[[Key], Batch]
    expected: float
    event: Callable[[Event], Event]


def everyone(num_records: int) -> Sampler:
    """No sampling: choose all records in their order, so that a release on this batch is one on all records."""
    require_size(num_records)
    rows, mask = jnp.arange(num_records), jnp.ones(num_records, bool)

    def draw(key: Key) -> Batch:
        del key
        return Batch(rows, mask)

    def event(whole: Event) -> Event:
        return whole

    return Sampler(draw, float(num_records), event)


def take(records: Records, batch: Batch) -> dict[str, jax.Array]:
    """The records of a batch, padding included."""
    return {name: array[batch.rows] for name, array in records.items()}


def require_size(num_records: int, batch: int | None = None) -> None:
    """Refuse sizes for which no batch can be drawn."""
    if not 1 <= num_records <= MAX_RECORDS:
        raise InputError(f"the number of records is {num_records}, but should be from 1 to {MAX_RECORDS}")
    if batch is not None and not 1 <= batch <= num_records:
        raise InputError(f"the batch is {batch}, but should be from 1 to the number of records, {num_records}")


def on_sample(event: Event, sampled: Callable[[float], Event]) -> Event:
    """Turn a Gaussian release on all records into one on a sample; what has no epsilon keeps having none.

    Args:
        event: What a mechanism says of a release on all records.
        sampled: `noise_multiplier -> event` of the sampler.
    """
    if isinstance(event, NonPrivate):
        return event
    if not isinstance(event, Gaussian):
        raise InputError(f"{event} cannot be made on a sample: only Gaussian releases can")
    return sampled(event.noise_multiplier)


def event_of_subsets(num_records: int, batch: int) -> Callable[[Event], Event]:
    """The event of batches of fixed size, drawn uniformly without replacement."""
    rate = batch / num_records
    return lambda whole: on_sample(whole, lambda noise: SubsetGaussian(noise_multiplier=noise, sampling_rate=rate))
