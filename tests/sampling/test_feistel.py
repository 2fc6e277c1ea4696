import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.errors import InputError
from dpinfer.sampling.feistel import ROUNDS, permute, round_keys
from pipeline.studies import feistel as reference

SIZES = (
    1,
    2,
    3,
    100,
    255,
    256,
    257,
    1000,
    4097,
    60_000,
    65_537,
    10**6,
    2**24 + 1,
    10**9,
    2**30 + 1,
    2**31 - 1,
)


def keys(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**32, (count, ROUNDS), dtype=np.uint32)


def test_jax_and_numba_agree_bit_for_bit_on_a_million() -> None:
    per_size, positions = 64, 1000
    compared = 0
    for number, size in enumerate(SIZES):
        index = np.random.default_rng(number).integers(0, size, positions)
        ours = jax.vmap(lambda k, size=size, index=index: permute(k, jnp.asarray(index), size))(
            keys(per_size, number)
        )
        theirs = [[reference.applications(k, i, size)[0] for i in index] for k in keys(per_size, number)]
        np.testing.assert_array_equal(np.asarray(ours), np.array(theirs))
        compared += per_size * positions
    assert compared >= 10**6


def test_every_size_up_to_4096_is_permuted() -> None:
    for key in keys(3, seed=1):
        for size in range(1, 4097):
            hits = np.bincount(reference.permutation(key, size), minlength=size)
            assert hits.max() == hits.min() == 1, size


@pytest.mark.parametrize("size", [2**20 + 1, 3_000_000])
def test_millions_are_permuted(size: int) -> None:
    assert (np.bincount(reference.permutation(keys(1, seed=2)[0], size), minlength=size) == 1).all()


def test_different_keys_give_different_permutations() -> None:
    first, second = (permute(round_keys(jax.random.key(seed)), jnp.arange(50), 1000) for seed in (0, 1))
    assert not np.array_equal(np.asarray(first), np.asarray(second))


@pytest.mark.parametrize("size", [0, -1, 2**31])
def test_an_impossible_size_is_refused(size: int) -> None:
    with pytest.raises(InputError, match=f"the number of records is {size}, but should be from 1 to 2147483647"):
        permute(round_keys(jax.random.key(0)), jnp.arange(1), size)
