"""Poisson sampling in O(batch): every record is in the batch with the same probability, independently.

Given its size, a Poisson sample is a uniform subset. So a Binomial(n, q) count followed by that many images of
a keyed permutation *is* Poisson sampling, and no coin is tossed for each of the n records.
"""

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.events import CUT, Event, PoissonGaussian
from dpinfer.binomial import at_most, more_than, upper_quantile
from dpinfer.errors import InputError
from dpinfer.sampling.base import Batch, Sampler, on_sample, require_size
from dpinfer.sampling.feistel import ROUNDS, permute
from dpinfer.types import Key


def poisson(num_records: int, sampling_rate: float, num_steps: int) -> Sampler:
    """Sample each of `num_records` with probability `sampling_rate`.

    Batches are padded to a capacity; a larger count is cut to it. That this can matter to a record in some of
    `num_steps` batches has a probability of at most `CUT`, which accounts take off delta.
    """
    require_size(num_records)
    if not 0 < sampling_rate <= 1:
        raise InputError(f"the sampling rate is {sampling_rate}, but should lie in (0, 1]")
    size = capacity(num_records, sampling_rate, num_steps)
    high, low = (jnp.asarray(words) for words in thresholds(num_records, sampling_rate, size))

    def draw(key: Key) -> Batch:
        # One call for all words of a batch: every call adds to the time that a program takes to compile.
        words = jax.random.bits(key, (2 + ROUNDS,), jnp.uint32)
        positions = jnp.arange(size)
        return Batch(permute(words[2:], positions, num_records), positions < count(words[:2], high, low))

    def event(whole: Event) -> Event:
        return on_sample(whole, lambda noise: PoissonGaussian(noise_multiplier=noise, sampling_rate=sampling_rate))

    return Sampler(draw, num_records * sampling_rate, event)


def capacity(num_records: int, sampling_rate: float, num_steps: int) -> int:
    """A size that leaves room for any one record beside all others of all batches, but for a probability `CUT`."""
    return min(num_records, 1 + upper_quantile(CUT / num_steps, num_records, sampling_rate))


def thresholds(num_records: int, sampling_rate: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """2^64 P(count <= k) for k = 0, ..., size - 1, as high and low 32-bit words.

    Computed in float64 on the host: the upper half from the survival function, so that both tails keep their
    relative precision down to steps of 2^-64.
    """
    k = np.arange(size)
    below, above = at_most(k, num_records, sampling_rate), more_than(k, num_records, sampling_rate)
    scale = 2**64
    exact = [
        int(b * scale) if b < 0.5 else scale - int(a * scale)
        for b, a in zip(below.tolist(), above.tolist(), strict=True)
    ]
    words = np.array([min(value, scale - 1) for value in exact], np.uint64)
    return (words >> np.uint64(32)).astype(np.uint32), words.astype(np.uint32)


def count(uniform: jax.Array, high: jax.Array, low: jax.Array) -> jax.Array:
    """How many thresholds a uniform 64-bit number (two words) has reached: a Binomial count by inversion."""
    reached = (high < uniform[0]) | ((high == uniform[0]) & (low <= uniform[1]))
    return reached.sum()
