"""Batches of the records of one client among many, whose shards differ in size: one program draws for all.

The records of all clients stand one after the other. A client is a number known only when running, so that its
batch can be drawn beside those of the others; sizes, rates and tables are known before.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.events import Event, PoissonGaussian
from dpinfer.errors import InputError
from dpinfer.sampling.base import Batch, event_of_subsets, on_sample
from dpinfer.sampling.feistel import ROUNDS, bits_for, permute_below
from dpinfer.sampling.names import ShardSamplerName
from dpinfer.sampling.poisson import capacity, count, thresholds

SMALL = 4
"""Up to how many padded batches a shard may hold for a coin for every record to be quicker."""


class ShardSampler(NamedTuple):
    """Chooses the records of a client's step.

    Attributes:
        words: How many random 32-bit words a draw takes.
        capacity: Size that batches are padded to.
        draw: `(client, words) -> Batch`, with rows among the records of all clients.
        expected: (clients,) expected size of each client's batch, which is public; sums are divided by it.
        event: `(client, release on all its records) -> event` of the release on its batch.
    """

    words: int
    capacity: int
    draw: Callable[[jax.Array, jax.Array], Batch]
    expected: jax.Array
    event: Callable[[int, Event], Event]


def shard_sampler(
    name: ShardSamplerName, sizes: tuple[int, ...], batches: tuple[int, ...], num_draws: int
) -> ShardSampler:
    """Draw each client's batch by a coin for every record, or a fixed number without replacement.

    Shards much larger than their batches are drawn from in O(batch), by the keyed permutation. Coins are tossed
    one by one where the largest shard is at most `SMALL` padded batches: the walks of many clients go on until
    the slowest has ended, and then cost more than the gradients of the records that they leave out.

    Args:
        name: poisson or subset. A batch of all records is drawn by neither: every step then sees them all.
        sizes: Records of each client.
        batches: Expected batch of each client.
        num_draws: How many batches a client draws in a run, for the padding.
    """
    for client, (size, batch) in enumerate(zip(sizes, batches, strict=True)):
        if not 1 <= batch <= size:
            raise InputError(
                f"expected_batch is {batch}, but should be from 1 to {size}, the records of client {client}"
            )
    offsets = jnp.asarray(np.cumsum([0, *sizes[:-1]]), jnp.int32)
    limits = jnp.asarray(sizes, jnp.int32)
    expected = jnp.asarray(batches, jnp.float32)
    if all(size == batch for size, batch in zip(sizes, batches, strict=True)):
        return ShardSampler(1, max(sizes), _all(offsets, limits), expected, lambda _, event: event)
    rates = [batch / size for size, batch in zip(sizes, batches, strict=True)]

    def event(client: int, whole: Event) -> Event:
        size, batch = sizes[client], batches[client]
        if size == batch:
            return whole
        if name == "subset":
            return event_of_subsets(size, batch)(whole)
        return on_sample(whole, lambda noise: PoissonGaussian(noise_multiplier=noise, sampling_rate=rates[client]))

    largest = max(_capacity(name, size, batch, num_draws) for size, batch in zip(sizes, batches, strict=True))
    if name == "poisson" and max(sizes) <= SMALL * largest:
        return ShardSampler(max(sizes), max(sizes), _coins(offsets, limits, rates), expected, event)
    positions = jnp.arange(largest)
    bits = jnp.asarray([bits_for(size) for size in sizes], jnp.uint32)
    tables = [thresholds(size, rate, largest) for size, rate in zip(sizes, rates, strict=True)]
    high, low = (jnp.asarray(np.stack(words)) for words in zip(*tables, strict=True))

    def draw(client: jax.Array, words: jax.Array) -> Batch:
        limit = limits[client]
        # Padding is put back into a smaller shard: a walk ends only if it starts within the domain.
        inside = jnp.minimum(positions, limit - 1)
        rows = permute_below(words[2:], inside, limit.astype(jnp.uint32), bits[client])
        full = jnp.asarray(batches, jnp.int32)[client]
        chosen = full if name == "subset" else count(words[:2], high[client], low[client])
        return Batch(offsets[client] + rows, positions < chosen)

    return ShardSampler(2 + ROUNDS, largest, draw, expected, event)


def whole_shard(sizes: tuple[int, ...]) -> Callable[[jax.Array], Batch]:
    """`client -> Batch` of all its records."""
    offsets = jnp.asarray(np.cumsum([0, *sizes[:-1]]), jnp.int32)
    draw = _all(offsets, jnp.asarray(sizes, jnp.int32))
    return lambda client: draw(client, jnp.zeros(0, jnp.uint32))


def _all(offsets: jax.Array, limits: jax.Array) -> Callable[[jax.Array, jax.Array], Batch]:
    positions = jnp.arange(int(limits.max()))

    def draw(client: jax.Array, words: jax.Array) -> Batch:
        del words
        limit = limits[client]
        return Batch(offsets[client] + jnp.minimum(positions, limit - 1), positions < limit)

    return draw


def _coins(offsets: jax.Array, limits: jax.Array, rates: list[float]) -> Callable[[jax.Array, jax.Array], Batch]:
    shard = _all(offsets, limits)
    # Rounded down, so that no record is seen more often than is accounted for.
    faces = jnp.asarray([min(int(rate * 2**32), 2**32 - 1) for rate in rates], jnp.uint32)
    always = jnp.asarray([rate == 1 for rate in rates])

    def draw(client: jax.Array, words: jax.Array) -> Batch:
        batch = shard(client, words)
        return Batch(batch.rows, batch.mask & ((words < faces[client]) | always[client]))

    return draw


def _capacity(name: str, size: int, batch: int, num_draws: int) -> int:
    return batch if name == "subset" or batch == size else capacity(size, batch / size, num_draws)
