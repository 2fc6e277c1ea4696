"""Batches by a Feistel network: how often it is applied, and how evenly they include the records.

An index walks until the network's image lies below n. If images were uniform on {0, ..., 2^b - 1}, the number
of applications L would be geometric with p = n / 2^b, and the largest of a batch that of B independent walks
(d3p, PoPETs 2022, Eqs. 9 to 14, which are about one index).

The permutation is written a second time here, for numba: record by record through plain integers, without a shared
line with the vectorised form. It is the oracle of that one's tests, quick enough to prove for every n up to some
thousands, and for a few in the millions, that nothing is hit twice.
"""

from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numba
import numpy as np

from dpinfer.binomial import lower_quantile, upper_quantile
from dpinfer.sampling.feistel import ROUNDS, bits_for
from dpinfer.unsafe.small_seed import permute_by_seed
from pipeline.settings.study import Feistel
from pipeline.studies import Row

M32 = 0xFFFFFFFF


@numba.njit(cache=True)
def _mix(half: int, key: int) -> int:
    h = ((half ^ key) * 0x9E3779B1) & M32
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & M32
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & M32
    return h ^ (h >> 16)


@numba.njit(cache=True)
def _once(keys: np.ndarray, value: int, bits: int) -> int:
    width_right = bits // 2
    width_left = bits - width_right
    right = value % (1 << width_right)
    left = value // (1 << width_right)
    for key in keys:
        right, left = (left ^ _mix(right, int(key))) % (1 << width_left), right
        width_right, width_left = width_left, width_right
    return left * (1 << width_right) + right


@numba.njit(cache=True)
def applications(keys: np.ndarray, index: int, num_records: int) -> tuple[int, int]:
    """Image of one position, and how often the network was applied to find it."""
    bits = 8
    while (1 << bits) < num_records:
        bits += 1
    value, count = _once(keys, index, bits), 1
    while value >= num_records:
        value, count = _once(keys, value, bits), count + 1
    return value, count


@numba.njit(cache=True)
def permutation(keys: np.ndarray, num_records: int) -> np.ndarray:
    """The images of all positions, in order."""
    images = np.empty(num_records, np.int64)
    for index in range(num_records):
        images[index] = applications(keys, index, num_records)[0]
    return images


LIMITS = np.arange(1, 31)
"""Numbers of applications at which distributions are tabulated."""

TAIL = 1e-3
"""Probability that binomial noise alone puts any of the records outside the band."""


class Walks(NamedTuple):
    """Distribution of the applications, of one index and of the index that takes most in a batch.

    Attributes:
        mean: Mean applications of an index.
        within: P(L <= l) for l in `LIMITS`.
        batch_mean: Mean of the largest L in a batch.
        batch_within: P(max L <= l) for l in `LIMITS`.
    """

    mean: float
    within: np.ndarray
    batch_mean: float
    batch_within: np.ndarray


def rows(settings: Feistel) -> Iterator[Row]:
    """The rows of what is measured, with n, B and the number of keys."""
    measured = _walks(settings) if settings.measure == "walks" else _inclusion(settings)
    where = {"records": settings.records, "batch": settings.batch, "keys": settings.keys}
    return ({**where, **row} for row in measured)


def _walks(settings: Feistel) -> Iterator[Row]:
    """Applications per index and per batch, simulated and predicted; evaluations per batch, in units of n."""
    domain = 2 ** bits_for(settings.records)
    _, counts = draw(settings)
    simulated, predicted = tabulate(counts), geometric(settings.records / domain, settings.batch)
    for source, walks in (("simulated", simulated), ("predicted", predicted)):
        for row in _tabulated(walks, settings.batch / settings.records):
            yield {"source": source, **row}
    yield {"metric": "distance", "value": float(np.abs(simulated.within - predicted.within).max())}
    most = int(counts.sum(axis=1).max())
    bounds = {"seven_batches": 7 * settings.batch, "all_records": settings.records, "shuffle": domain}
    for metric, evaluations in {"evaluations_most": most, **bounds}.items():
        yield {"metric": metric, "value": evaluations / settings.records}


def _tabulated(walks: Walks, sampling_rate: float) -> Iterator[Row]:
    yield {"metric": "mean", "value": walks.mean}
    yield {"metric": "batch_mean", "value": walks.batch_mean}
    # Every index stops when it has landed, or the whole batch goes on until its last index has.
    yield {"metric": "evaluations", "value": sampling_rate * walks.mean}
    yield {"metric": "evaluations_lockstep", "value": sampling_rate * walks.batch_mean}
    for metric, values in (("within", walks.within), ("batch_within", walks.batch_within)):
        for limit, share in zip(LIMITS.tolist(), values.tolist(), strict=True):
            yield {"applications": limit, "metric": metric, "value": share}


def draw(settings: Feistel) -> tuple[np.ndarray, np.ndarray]:
    """(keys, batch) records that batches under random round keys hold, and the applications each has taken."""
    generator = np.random.default_rng(settings.seed)
    keys = generator.integers(0, 2**32, (settings.keys, ROUNDS), dtype=np.uint32)
    drawn: tuple[np.ndarray, np.ndarray] = _draw(keys, settings.batch, settings.records)
    return drawn


@numba.njit(cache=True)
def _draw(keys: np.ndarray, batch: int, num_records: int) -> tuple[np.ndarray, np.ndarray]:
    images = np.empty((len(keys), batch), np.int64)
    counts = np.empty((len(keys), batch), np.int64)
    for number in range(len(keys)):
        for index in range(batch):
            images[number, index], counts[number, index] = applications(keys[number], index, num_records)
    return images, counts


def tabulate(counts: np.ndarray) -> Walks:
    """The distribution of (keys, batch) applications that were counted."""
    most = counts.max(axis=1)
    return Walks(
        mean=float(counts.mean()),
        within=np.array([(counts <= limit).mean() for limit in LIMITS]),
        batch_mean=float(most.mean()),
        batch_within=np.array([(most <= limit).mean() for limit in LIMITS]),
    )


def geometric(p: float, batch: int) -> Walks:
    """The distribution if every application landed below n with probability p, independently."""
    within = 1 - (1 - p) ** LIMITS
    # E[max] is the sum of P(max > l) over all l >= 0; after 60 / p terms, (1 - p)^l is below e^-60.
    beyond = (1 - p) ** np.arange(60 * np.ceil(1 / p))
    return Walks(1 / p, within, float((1 - (1 - beyond) ** batch).sum()), within**batch)


def _inclusion(settings: Feistel) -> Iterator[Row]:
    """Sorted inclusion probabilities of our sampler and of the small-seed one, and the band of binomial noise.

    Ours are shares of the drawn keys, so even a uniform sampler's scatter within the band. The small-seed
    sampler is seen under every seed it has: its probabilities are exact.
    """
    low, high = noise_band(settings)
    yield {"metric": "band_low", "value": low}
    yield {"metric": "band_high", "value": high}
    drawn = {"round_keys": draw(settings)[0], "small_seed": draw_by_seeds(settings.records, settings.batch)}
    for sampler, batches in drawn.items():
        probability = shares(batches, settings.records)
        outside = (probability < low) | (probability > high)
        summary = {"outside": outside.mean(), "most": probability.max(), "least": probability.min()}
        for metric, value in summary.items():
            yield {"sampler": sampler, "metric": metric, "value": float(value)}
        for rank, value in enumerate(np.sort(probability).tolist(), start=1):
            yield {"sampler": sampler, "rank": rank, "metric": "inclusion", "value": value}


def noise_band(settings: Feistel) -> tuple[float, float]:
    """Ends between which the shares of all records lie with probability 1 - `TAIL`, if all have rate B/n."""
    tail = TAIL / (2 * settings.records)
    rate = settings.batch / settings.records
    low, high = (quantile(tail, settings.keys, rate) for quantile in (lower_quantile, upper_quantile))
    return low / settings.keys, high / settings.keys


def draw_by_seeds(num_records: int, batch: int) -> np.ndarray:
    """(n, batch) records of all n batches that the small-seed sampler has."""
    seeds, positions = jnp.arange(num_records, dtype=jnp.uint32), jnp.arange(batch)
    batches = jax.jit(jax.vmap(lambda seed: permute_by_seed(seed, positions, num_records)))(seeds)
    return np.asarray(batches)


def shares(batches: np.ndarray, num_records: int) -> np.ndarray:
    """(n,) share of the batches that each record is in."""
    return np.bincount(batches.ravel(), minlength=num_records) / len(batches)


ROWS = {"feistel": rows}
