"""Batches of clients whose shards differ in size, drawn by one program."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import binom, chisquare

from dpinfer.accounting.events import Gaussian, PoissonGaussian, SubsetGaussian
from dpinfer.errors import InputError
from dpinfer.random.threefry import words
from dpinfer.sampling.feistel import permute
from dpinfer.sampling.shards import shard_sampler, whole_shard

SIZES, BATCHES = (30, 7, 300), (6, 3, 20)
SMALL = (30, 7, 200)
DRAWS = 4000
ONE = Gaussian(noise_multiplier=2.0)


def drawn(name: str, client: int, sizes: tuple[int, ...] = SIZES) -> tuple[np.ndarray, np.ndarray]:
    sampler = shard_sampler(name, sizes, BATCHES, DRAWS)  # type: ignore[arg-type]
    random = words(jax.random.key(1), DRAWS * sampler.words).reshape(DRAWS, sampler.words)
    batch = jax.jit(jax.vmap(sampler.draw, in_axes=(None, 0)))(jnp.asarray(client), random)
    return np.asarray(batch.rows), np.asarray(batch.mask)


@pytest.mark.parametrize("client", [0, 1, 2])
@pytest.mark.parametrize("sizes", [SIZES, SMALL])
@pytest.mark.parametrize("name", ["poisson", "subset"])
def test_a_client_sees_its_own_records_all_equally_often(name: str, sizes: tuple[int, ...], client: int) -> None:
    rows, mask = drawn(name, client, sizes)
    first = sum(sizes[:client])
    chosen = rows[mask]
    assert chosen.min() >= first
    assert chosen.max() < first + sizes[client]
    assert all(len(set(row[own])) == own.sum() for row, own in zip(rows[:200], mask[:200], strict=True))
    counts = np.bincount(chosen - first, minlength=sizes[client])
    assert chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("sizes", [SIZES, SMALL])
def test_the_size_of_a_batch_has_its_law(sizes: tuple[int, ...]) -> None:
    _, mask = drawn("subset", 1, sizes)
    assert (mask.sum(1) == 3).all()
    _, mask = drawn("poisson", 1, sizes)
    law = binom.pmf(np.arange(8), 7, 3 / 7)
    counts = np.bincount(mask.sum(1), minlength=8)
    assert chisquare(counts, law * DRAWS).pvalue > 1e-4
    wrong = binom.pmf(np.arange(8), 7, 2.5 / 7)
    assert chisquare(counts, wrong * DRAWS).pvalue < 1e-9


def test_small_shards_toss_a_coin_for_every_record() -> None:
    small, large = (shard_sampler("poisson", sizes, BATCHES, DRAWS) for sizes in (SMALL, SIZES))
    assert small.capacity == 200
    assert large.capacity < 300
    # A client that uses all its records among others that do not: every coin shows its face.
    sampler = shard_sampler("poisson", SMALL, (6, 7, 20), DRAWS)
    highest = jnp.full(sampler.words, 2**32 - 1, jnp.uint32)
    assert sampler.draw(jnp.asarray(1), highest).mask.sum() == 7
    assert sampler.draw(jnp.asarray(0), highest).mask.sum() == 0


def test_it_is_the_permutation_of_a_size_known_before() -> None:
    sampler = shard_sampler("subset", SIZES, BATCHES, 1)
    random = words(jax.random.key(3), sampler.words)
    rows = sampler.draw(jnp.asarray(2), random).rows
    np.testing.assert_array_equal(rows, 37 + permute(random[2:], jnp.arange(20), 300))


def test_what_a_release_becomes_on_a_clients_batch() -> None:
    poisson, subset = (shard_sampler(name, SIZES, (6, 7, 20), 1) for name in ("poisson", "subset"))
    assert poisson.event(0, ONE) == PoissonGaussian(noise_multiplier=2.0, sampling_rate=0.2)
    assert subset.event(0, ONE) == SubsetGaussian(noise_multiplier=2.0, sampling_rate=0.2)
    # All records of a client are no sample of them.
    assert poisson.event(1, ONE) == subset.event(1, ONE) == ONE


def test_whole_shards_are_padded_with_a_mask() -> None:
    batch = jax.vmap(whole_shard(SIZES))(jnp.arange(3))
    np.testing.assert_array_equal(batch.mask.sum(1), SIZES)
    everyone = np.asarray(batch.rows)[np.asarray(batch.mask)]
    np.testing.assert_array_equal(np.sort(everyone), np.arange(sum(SIZES)))


def test_a_batch_larger_than_a_shard_is_refused() -> None:
    with pytest.raises(
        InputError, match="expected_batch is 8, but should be from 1 to 7, the records of client 1"
    ):
        shard_sampler("poisson", SIZES, (6, 8, 20), 1)
