"""Clips and noise of clients: what a record can move, and how far the noise hides it."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

from dpinfer.accounting.events import Gaussian, NonPrivate
from dpinfer.mechanism.clients import Adaptive, ClientMechanism, percentile, protected, together, unprotected
from dpinfer.mechanism.exact import exact

CLIENT = jnp.asarray(1)


def mechanism(kind: Any = "fixed", quantile: float = 0.5, clip_rate: float = 0.2) -> ClientMechanism:
    return protected((1.0, 3.0), (9.0, 2.0), (10, 100), Adaptive(kind, quantile, clip_rate, 0.05))


def loss(parameters: jax.Array, record: jax.Array) -> jax.Array:
    return parameters @ record


def release(part: ClientMechanism, records: jax.Array, noise: Any, clip: float = 2.0) -> tuple[Any, Any]:
    mask = jnp.ones(len(records), bool)
    return part.release(CLIENT, jnp.asarray(clip), noise, loss, jnp.zeros(3), records, mask)


QUIET = (jnp.zeros(3), jnp.zeros(()))
RECORDS = jax.random.normal(jax.random.key(0), (100, 3)) * 3


@pytest.mark.parametrize("kind", ["fixed", "quantile"])
def test_one_record_moves_the_sum_by_a_clip_at_most(kind: Any) -> None:
    part = mechanism(kind)
    huge = RECORDS.at[0].set(1e6)
    with_it, _ = release(part, huge, QUIET)
    without, _ = release(part, huge[1:], QUIET)
    assert np.linalg.norm(with_it - without) == pytest.approx(2.0, rel=1e-4)


def test_one_record_moves_a_percentiles_sum_by_more_than_any_clip_of_the_batch() -> None:
    # Half of the gradients are short, half are long: one more of either kind decides which is the median.
    along = jnp.array([1.0, 0.0, 0.0])
    even = jnp.concatenate([jnp.tile(along, (50, 1)), jnp.tile(10 * along, (50, 1))])
    part = mechanism("percentile")
    both = [release(part, jnp.concatenate([even, size * along[None]]), QUIET) for size in (1.0, 10.0)]
    (fewer, _), (more, clip) = both
    assert np.linalg.norm(fewer - more) > 40 * float(clip)
    lengths = np.linalg.norm(RECORDS, axis=1)
    _, clip = release(mechanism("percentile", 0.3), RECORDS, QUIET)
    assert float(clip) == pytest.approx(np.percentile(lengths, 30), rel=1e-5)
    assert isinstance(mechanism("percentile").event(0), NonPrivate)


def test_masked_norms_have_no_say_in_a_percentile() -> None:
    norms, mask = jnp.array([1.0, 2.0, 3.0, 100.0]), jnp.array([True, True, True, False])
    assert float(percentile(norms, mask, 0.5)) == 2.0


def test_noise_has_the_clients_own_scale() -> None:
    part = mechanism()
    noise = part.random(jax.random.key(2), jnp.zeros(3), (2000,))
    released = jax.vmap(lambda own: release(part, RECORDS, own)[0])(noise)
    centred = np.asarray(released - release(part, RECORDS, QUIET)[0]).ravel()
    assert kstest(centred, norm(scale=6.0).cdf).pvalue > 1e-3
    assert kstest(centred, norm(scale=5.0).cdf).pvalue < 1e-6


def test_a_private_quantile_is_found_and_costs_what_is_booked() -> None:
    part = mechanism("quantile", quantile=0.8, clip_rate=0.2)

    def step(clip: jax.Array, noise: Any) -> tuple[jax.Array, jax.Array]:
        mask = jnp.ones(100, bool)
        _, clip = part.release(CLIENT, clip, noise, loss, jnp.zeros(3), RECORDS, mask)
        return clip, clip

    noise = part.random(jax.random.key(3), jnp.zeros(3), (600,))
    _, clips = jax.lax.scan(step, jnp.asarray(50.0), noise)
    wanted = np.quantile(np.linalg.norm(RECORDS, axis=1), 0.8)
    assert float(clips[200:].mean()) == pytest.approx(wanted, rel=0.1)
    assert part.event(1) == Gaussian(noise_multiplier=together(3.0, 5.0))


def test_sum_and_count_are_one_gaussian_release() -> None:
    # In units of their noise, a record moves the sum by 1 / 1.0 and the count by 0.5 / 1.5.
    assert together(1.0, 1.5) == pytest.approx(1 / math.sqrt(1 + 1 / 9))
    assert together(1.0, 1e9) == pytest.approx(1.0)


def test_noise_on_the_count_has_the_scale_that_is_booked() -> None:
    part = mechanism("quantile", clip_rate=1.0)
    noise = part.random(jax.random.key(4), jnp.zeros(3), (2000,))
    clips = jax.vmap(lambda own: release(part, RECORDS, own)[1])(noise)
    quiet = release(part, RECORDS, QUIET)[1]
    moved = np.asarray(jnp.log(quiet) - jnp.log(clips))
    assert kstest(moved, norm(scale=0.05).cdf).pvalue > 1e-3
    assert kstest(moved, norm(scale=0.065).cdf).pvalue < 1e-6


def test_without_privacy_the_sum_is_plain() -> None:
    total, clip = release(unprotected(exact(), 2), RECORDS, (), clip=1.0)
    np.testing.assert_allclose(total, RECORDS.sum(0), rtol=1e-4)
    assert float(clip) == 1.0
