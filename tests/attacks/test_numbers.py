"""Attacks on numbers: what the bits of a release say beyond what its epsilon allows."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chisquare, kstest

from dpinfer.errors import InputError
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.mechanism.grid import clip_before_rounding, grid, on_grid, rounded_sum
from dpinfer.random import chacha
from dpinfer.types import Key

CLIP = 1.0


def linear(parameters: jax.Array, example: jax.Array) -> jax.Array:
    """A loss whose gradient is the example itself."""
    return (parameters * example).sum()


def released(mechanism: Mechanism, pull: float, draws: int, key: Key) -> np.ndarray:
    """(draws,) releases of a single coordinate, to which one record adds `pull`."""

    def one(own: Key) -> jax.Array:
        at = jnp.zeros(1)
        return mechanism.release(mechanism.random(own, at), linear, at, jnp.full((1, 1), pull), jnp.ones(1, bool))

    return np.asarray(jax.jit(jax.vmap(one))(jax.random.split(key, draws)))[:, 0]


def noise_values(mechanism: Mechanism, draws: int, key: Key) -> np.ndarray:
    """Values that the noise alone takes."""
    return released(mechanism, 0.0, draws, key)


@pytest.mark.parametrize("sigma", [0.93, 3.0, 20.0])
def test_no_release_on_the_grid_proves_that_a_record_is_there(sigma: float) -> None:
    """A value is proof where one of two sums could have come to it by some noise, and the other by none.

    On a grid, both sums and all noise are multiples of it: whatever was released, the noise that the other sum
    needs is one that can be drawn.
    """
    mechanism = on_grid(CLIP, sigma, most_records=100)
    spacing = grid(CLIP, sigma * CLIP, 100)
    for pull in (0.0, CLIP):
        seen = released(mechanism, pull, 20_000, jax.random.key(3, impl=chacha.CHACHA20))
        for other in (0.0, CLIP):
            needed = (seen.astype(np.float64) - _rounded(other, spacing)) / spacing
            assert np.array_equal(needed, np.rint(needed))
            assert np.abs(needed * spacing).max() < 9 * sigma


def _rounded(pull: float, spacing: float) -> float:
    bound = clip_before_rounding(CLIP, spacing, jnp.zeros(1))
    return float(np.rint(min(pull, bound) / spacing) * spacing)


def test_every_multiple_has_its_share_of_the_normal_law() -> None:
    """The noise of 32 bits fails this: it misses multiples and doubles others. Here each has its probability."""
    sigma, draws = 1.0, 400_000
    spacing = grid(CLIP, sigma, 10)
    mechanism = on_grid(CLIP, sigma, most_records=10)
    noise = noise_values(mechanism, draws, jax.random.key(5, impl=chacha.CHACHA20)).astype(np.float64)
    assert kstest(noise, "norm").pvalue > 1e-3
    for wrong in (0.98, 1.02):
        assert kstest(wrong * noise, "norm").pvalue < 1e-3
    # The last bits of the multiples are uniform: nothing of a sum can be read off them.
    low = np.rint(noise / spacing).astype(np.int64) & 255
    assert chisquare(np.bincount(low, minlength=256)).pvalue > 1e-4
    # Multiples within a hundredth of a deviation, each about as often as its neighbours.
    near = np.rint(noise[np.abs(noise) < 2**-8] / spacing).astype(np.int64)
    expected = draws * (ndtr(2**-8) - ndtr(-(2**-8)))
    assert abs(len(near) - expected) < 5 * np.sqrt(expected)


def test_rounded_gradients_respect_the_clip_whatever_they_are() -> None:
    spacing = grid(CLIP, 0.5, 1000)
    for size, key in ((1, 0), (50, 1), (20_000, 2)):
        at = jnp.zeros(size)
        bound = clip_before_rounding(CLIP, spacing, at)
        for scale in (1e-3, 1.0, 1e6, 1e18):
            gradients = scale * jax.random.normal(jax.random.key(key), (20, size))
            for row in gradients:
                multiples = rounded_sum(linear, at, row[None], jnp.ones(1, bool), bound, spacing)
                assert np.linalg.norm(np.asarray(multiples, np.float64)) * spacing <= CLIP


@pytest.mark.parametrize("micro_batch", [None, 13, 50])
def test_sums_on_the_grid_are_exact_so_that_one_record_moves_nothing_but_its_own_part(micro_batch: int) -> None:
    """The rounding of a sum of floats depends on all its terms: one record could move it by more than a clip."""
    records = jax.random.normal(jax.random.key(0), (500, 7))

    @jax.jit
    def total(mask: jax.Array) -> jax.Array:
        return rounded_sum(linear, jnp.zeros(7), records, mask, 0.9, grid(CLIP, 1.0, 500), micro_batch)

    whole = np.asarray(total(jnp.ones(500, bool)))
    for parts in (2, 5):
        each = [np.asarray(total(jnp.arange(500) % parts == rest)) for rest in range(parts)]
        np.testing.assert_array_equal(sum(each), whole)


@pytest.mark.parametrize("clip", [1e-13, 1e-20, 1e-30])
def test_a_clip_that_cannot_be_enforced_is_refused(clip: float) -> None:
    with pytest.raises(InputError, match="cannot be enforced"):
        gaussian(clip, 1.0)
    with pytest.raises(InputError, match="cannot be enforced"):
        on_grid(clip, 1.0, 10)


DOUBLE = """
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.mechanism.grid import on_grid

def linear(parameters, example):
    return (parameters * example).sum()

def attack(mechanism, scale):
    # Noise of 32 bits in a sum of 64: the right candidate leaves a 32-bit number, the wrong one does not.
    rng, right, wrong = np.random.default_rng(0), 0, 0
    records = rng.uniform(-0.5, 0.5, (100, 1))
    neighbour = records.copy(); neighbour[0] = 0.123456789
    sums = [records.sum(), neighbour.sum()]
    everyone = jnp.ones(100, bool)
    for trial in range(40):
        truth = trial % 2
        noise = mechanism.random(jax.random.key(trial), jnp.zeros(1))
        seen = mechanism.release(noise, linear, jnp.zeros(1), jnp.asarray([records, neighbour][truth]), everyone)
        assert seen.dtype == np.float64
        rest = [(float(seen[0]) - total) / scale for total in sums]
        off = [abs(np.float64(np.float32(r)) / r - 1) for r in rest]
        guess = int(off[1] < off[0])
        right += guess == truth and min(off) < 1e-11
    return right

print(attack(gaussian(1.0, 5.0), 5.0))
print(attack(on_grid(1.0, 5.0, 100), 5.0))
"""


def test_a_sum_of_64_bits_is_not_shown_by_noise_of_32() -> None:
    done = subprocess.run([sys.executable, "-c", DOUBLE], capture_output=True, text=True, check=True)
    for certain in map(int, done.stdout.split()):
        assert certain <= 2, "epsilon allows no certain verdicts at all"
