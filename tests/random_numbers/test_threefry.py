import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32

from dpinfer.random.threefry import generator, pairs, words


@pytest.mark.parametrize("seed", [0, 1, 2**31 + 7])
@pytest.mark.parametrize("count", [1, 5, 4096])
def test_the_words_are_those_of_the_cipher_that_jax_has(seed: int, count: int) -> None:
    key = jax.random.key(seed)
    theirs = threefry_2x32(jax.random.key_data(key), jnp.arange(2 * count, dtype=jnp.uint32))
    np.testing.assert_array_equal(jnp.concatenate(pairs(key, count)), theirs)
    np.testing.assert_array_equal(words(key, 2 * count - 1), theirs[:-1])


def test_the_generator_has_a_name() -> None:
    assert generator(jax.random.key(0)) == "Threefry-2x32, 20 rounds, Box-Muller"
    assert generator(jax.random.key(0, impl="rbg")) == "rbg, Box-Muller"
