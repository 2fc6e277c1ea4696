"""The laws of the samplers, by tests that the paper's small-seed sampler fails."""

from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import binom, chi2

from dpinfer.accounting.events import CUT
from dpinfer.errors import InputError
from dpinfer.sampling.base import Batch, Sampler, take
from dpinfer.sampling.fixed_size import choice, replacement, subset
from dpinfer.sampling.poisson import capacity, poisson, thresholds
from dpinfer.unsafe.small_seed import permute_by_seed, small_seed

DRAWS = 40_000
FIXED = {"subset": subset, "choice": choice}


def draws(sampler: Sampler, count: int = DRAWS, seed: int = 0) -> Batch:
    drawn = jax.jit(jax.vmap(sampler.draw))(jax.random.split(jax.random.key(seed), count))
    return jax.tree.map(np.asarray, drawn)


def membership(batch: Batch, size: int) -> np.ndarray:
    """(draws, size) whether each record was in each batch."""
    members = np.zeros((len(batch.rows), size), bool)
    rows = np.broadcast_to(np.arange(len(batch.rows))[:, None], batch.rows.shape)
    members[rows[batch.mask], batch.rows[batch.mask]] = True
    return members


def p_single(members: np.ndarray, rate: float) -> float:
    """Chi-square p-value of equal inclusion; fixed sizes lose the degree of freedom that the total takes."""
    counts, expected = members.sum(axis=0), len(members) * rate
    size = members.shape[1]
    statistic = ((counts - expected) ** 2).sum() / (expected * (1 - rate)) * (size - 1) / size
    return float(chi2.sf(statistic, size - 1))


def p_pairs(members: np.ndarray, rate: float) -> float:
    """P-value of the worst pair of records, corrected for their number."""
    size = members.shape[1]
    together = members.T.astype(float) @ members
    worst = max(
        (abs(together[i, j] / len(members) - rate) for i, j in combinations(range(size), 2)),
    )
    z = worst / np.sqrt(rate * (1 - rate) / len(members))
    return float(min(1.0, size * (size - 1) / 2 * chi2.sf(z**2, 1)))


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize(("size", "batch"), [(5, 2), (20, 5), (33, 8)])
def test_fixed_size_includes_singles_and_pairs_evenly(name: str, size: int, batch: int) -> None:
    members = membership(draws(FIXED[name](size, batch)), size)
    assert (members.sum(axis=1) == batch).all()
    assert p_single(members, batch / size) > 1e-4
    assert p_pairs(members, batch * (batch - 1) / (size * (size - 1))) > 1e-4


def test_the_same_tests_reject_the_papers_sampler() -> None:
    members = membership(draws(small_seed(33, 8)), 33)
    assert (members.sum(axis=1) == 8).all()
    assert p_single(members, 8 / 33) < 1e-12
    assert p_pairs(members, 8 * 7 / (33 * 32)) < 1e-12


@pytest.mark.parametrize(("size", "batch", "least", "most"), [(500, 50, 0.054, 0.148), (100, 10, 0.01, 0.17)])
def test_the_papers_sampler_has_the_known_inclusion_over_all_its_seeds(
    size: int, batch: int, least: float, most: float
) -> None:
    seeds = jnp.arange(size, dtype=jnp.uint32)
    index = jax.vmap(lambda seed: permute_by_seed(seed, jnp.arange(batch), size))(seeds)
    inclusion = np.bincount(np.asarray(index).ravel(), minlength=size) / size
    assert inclusion.min() == pytest.approx(least)
    assert inclusion.max() == pytest.approx(most)


@pytest.mark.parametrize(("size", "rate"), [(5, 0.5), (20, 0.25), (33, 0.1), (7, 1.0)])
def test_poisson_includes_every_record_independently(size: int, rate: float) -> None:
    members = membership(draws(poisson(size, rate, num_steps=DRAWS)), size)
    if rate == 1.0:
        assert members.all()
        return
    sizes = np.bincount(members.sum(axis=1), minlength=size + 1)
    expected = binom.pmf(np.arange(size + 1), size, rate) * DRAWS
    kept = expected > 5
    statistic = ((sizes - expected)[kept] ** 2 / expected[kept]).sum()
    assert chi2.sf(statistic, kept.sum() - 1) > 1e-4
    # Independence: unlike in a subset, counts of records vary freely, so no degree of freedom is lost.
    counts, mean = members.sum(axis=0), DRAWS * rate
    assert chi2.sf(((counts - mean) ** 2).sum() / (mean * (1 - rate)), size) > 1e-4
    assert p_pairs(members, rate**2) > 1e-4


@pytest.mark.parametrize(
    ("size", "rate"), [(50, 0.3), (1000, 0.128), (10**6, 1e-3), (10**8, 1.28e-6), (2**31 - 1, 1e-9)]
)
def test_the_count_has_the_binomial_law_in_both_tails(size: int, rate: float) -> None:
    most = capacity(size, rate, 10**5)
    high, low = thresholds(size, rate, most)
    law = (high.astype(object) * 2**32 + low.astype(object)) / 2**64
    k = np.arange(most)
    np.testing.assert_allclose(law.astype(float), binom.cdf(k, size, rate), atol=1e-15)
    above = np.array([float(2**64 - (int(h) * 2**32 + int(w))) / 2**64 for h, w in zip(high, low, strict=True)])
    tail = binom.sf(k, size, rate)
    np.testing.assert_allclose(above[tail > 1e-17], tail[tail > 1e-17], rtol=0.01)
    assert binom.sf(most - 1, size, rate) * 10**5 <= CUT or most == size


def test_a_mask_never_counts_padding_and_indices_are_valid() -> None:
    batch = draws(poisson(1000, 0.01, num_steps=1000), count=1000)
    assert batch.rows.min() >= 0
    assert batch.rows.max() < 1000
    for rows, mask in zip(batch.rows, batch.mask, strict=True):
        assert len(set(rows[mask])) == mask.sum()


def test_take_gathers_records() -> None:
    records = {"x": jnp.arange(10.0)[:, None], "y": jnp.arange(10)}
    taken = take(records, Batch(jnp.array([3, 7]), jnp.array([True, False])))
    np.testing.assert_array_equal(taken["x"], [[3.0], [7.0]])
    np.testing.assert_array_equal(taken["y"], [3, 7])


def test_with_replacement_positions_are_even_and_independent() -> None:
    rows = draws(replacement(20, 5)).rows
    counts = np.bincount(rows.ravel(), minlength=20)
    assert chi2.sf(((counts - counts.mean()) ** 2 / counts.mean()).sum(), 19) > 1e-4
    # Two places of a batch hold the same record as often as chance has it; in a subset they never do.
    same = (rows[:, 0] == rows[:, 1]).mean()
    assert abs(same - 1 / 20) < 4 * np.sqrt(1 / 20 * 19 / 20 / DRAWS)


@pytest.mark.parametrize("make", [*FIXED.values(), replacement, small_seed])
@pytest.mark.parametrize("batch", [0, -1, 11])
def test_an_impossible_batch_is_refused(make: object, batch: int) -> None:
    with pytest.raises(
        InputError, match=f"the batch is {batch}, but should be from 1 to the number of records, 10"
    ):
        make(10, batch)  # type: ignore[operator]


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.1, float("nan")])
def test_an_impossible_rate_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="but should lie in"):
        poisson(10, rate, 1)
