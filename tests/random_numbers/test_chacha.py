"""ChaCha20 as a kind of key: the cipher against its standard, the laws of its draws, and streams kept apart."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dpinfer.random.chacha import CHACHA20, blocks, jax_key, quarter_round, system_key
from dpinfer.random.threefry import generator
from dpinfer.sampling.poisson import poisson
from dpinfer.tree import normal_like

KEY = jax.random.key(7, impl=CHACHA20)
ZERO = bytes(32)


def words(raw: bytes) -> np.ndarray:
    return np.frombuffer(raw, "<u4")


def test_the_quarter_round_of_the_standard() -> None:
    """RFC 8439, Section 2.1.1."""
    given = [jnp.uint32(word) for word in (0x11111111, 0x01020304, 0x9B8D6F43, 0x01234567)]
    assert [int(word) for word in quarter_round(*given)] == [0xEA2A92F4, 0xCB1CF8CE, 0x4581472E, 0x5881C4BB]


@pytest.mark.parametrize(
    ("key", "counter", "nonce", "stream"),
    [
        # Section 2.3.2
        (
            bytes(range(32)), 1, "000000090000004a00000000",
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
        ),
        # Appendix A.1, numbers 1, 2 and 3
        (
            ZERO, 0, "000000000000000000000000",
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
        ),
        (
            ZERO, 1, "000000000000000000000000",
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
        ),
        (
            ZERO[1:] + b"\x01", 1, "000000000000000000000000",
            "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
            "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
        ),
    ],
)  # fmt: skip
def test_the_blocks_of_the_standard(key: bytes, counter: int, nonce: str, stream: str) -> None:
    first, second, third = (int(word) for word in words(bytes.fromhex(nonce)))
    counters = jnp.asarray([counter + 5, counter], jnp.uint32)
    found = blocks(jnp.asarray(words(key)), counters, (first, second, third))
    assert np.asarray(found[:, 1], "<u4").tobytes().hex() == stream
    assert not (found[:, 0] == found[:, 1]).any()


def test_every_function_of_jax_takes_such_a_key_and_knows_its_law() -> None:
    split, folded = jax.random.split(KEY, 3), jax.random.fold_in(KEY, 3)
    assert split.shape == (3,)
    assert folded.dtype == split.dtype == KEY.dtype
    uniform = np.asarray(jax.random.uniform(split[0], (100_000,)))
    assert stats.kstest(uniform, "uniform").pvalue > 1e-3
    assert stats.kstest(uniform**1.05, "uniform").pvalue < 1e-3
    bits = np.asarray(jax.random.bits(split[1], (100_000,), jnp.uint8))
    assert stats.chisquare(np.bincount(bits, minlength=256)).pvalue > 1e-3
    each = jax.vmap(lambda key: jax.random.bits(key, (5,), jnp.uint32))(split)
    np.testing.assert_array_equal(each[2], jax.random.bits(split[2], (5,), jnp.uint32))
    with jax.enable_x64(True):
        wide = np.asarray(jax.random.bits(split[2], (1000,), jnp.uint64))
    assert len(np.unique(wide >> np.uint64(32))) == len(np.unique(wide & np.uint64(2**32 - 1))) == 1000


def test_noise_is_standard_normal_and_the_test_would_notice_another_scale() -> None:
    drawn = np.asarray(normal_like(KEY, jnp.zeros(1_000_001)))
    assert stats.kstest(drawn, "norm").pvalue > 1e-3
    for scale in (0.99, 1.01):
        assert stats.kstest(scale * drawn, "norm").pvalue < 1e-3
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4 / np.sqrt(len(drawn))


def test_batches_are_poisson() -> None:
    sampler = poisson(50, 0.1, 10_000)
    batches = jax.vmap(sampler.draw)(jax.random.split(KEY, 10_000))
    sizes = np.asarray(batches.mask.sum(axis=1))
    expected = 10_000 * stats.binom.pmf(np.arange(13), 50, 0.1)
    counted = np.bincount(np.minimum(sizes, 12), minlength=13)
    expected[-1] += 10_000 - expected.sum()
    assert stats.chisquare(counted, expected).pvalue > 1e-3
    included = np.bincount(np.asarray(batches.rows)[np.asarray(batches.mask)], minlength=50)
    assert stats.chisquare(included).pvalue > 1e-3


def test_no_two_purposes_share_words() -> None:
    data = [
        np.asarray(jax.random.key_data(jax.random.split(KEY, 40))),
        np.asarray(jax.random.key_data(jax.vmap(lambda n: jax.random.fold_in(KEY, n))(jnp.arange(40)))),
        np.asarray(jax.random.bits(KEY, (320,), jnp.uint32)),
        np.asarray(jax.random.key_data(KEY)),
    ]
    together = np.concatenate([part.ravel() for part in data])
    # The key's zeros apart, all are different: a coincidence among a thousand words has a chance of 1e-4.
    assert len(np.unique(together)) == len(together) - 6


def test_a_key_of_the_system_is_new_and_takes_its_entropy_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (np.asarray(jax.random.key_data(system_key())) for _ in range(2))
    assert not np.isin(one, other).any()
    monkeypatch.setattr(os, "urandom", lambda size: bytes(range(size)))
    assert np.asarray(jax.random.key_data(system_key())).tobytes() == bytes(range(32))


def test_the_generator_has_a_name_and_lends_keys_to_others() -> None:
    assert generator(KEY) == "ChaCha20, Box-Muller"
    lent = jax_key(KEY)
    assert generator(lent) == "Threefry-2x32, 20 rounds, Box-Muller"
    assert jax_key(lent) is lent
