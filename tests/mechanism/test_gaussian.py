import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest

from dpinfer.accounting.events import Gaussian, NonPrivate
from dpinfer.mechanism.clip import clip_records
from dpinfer.mechanism.exact import exact
from dpinfer.mechanism.gaussian import gaussian

KEY = jax.random.key(0)


def contributions(scale: float, records: int = 5) -> dict[str, jax.Array]:
    w, b = jax.random.split(jax.random.key(1))
    return {"w": scale * jax.random.normal(w, (records, 3, 2)), "b": scale * jax.random.normal(b, (records, 4))}


def norms(tree: dict[str, jax.Array]) -> np.ndarray:
    return np.sqrt(
        sum(np.square(np.asarray(leaf, float)).reshape(len(leaf), -1).sum(axis=1) for leaf in tree.values())
    )


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1.0, 1e6, 1e18])
def test_no_record_exceeds_the_clip_jointly_over_leaves(scale: float) -> None:
    assert (norms(clip_records(contributions(scale), 0.7)) <= 0.7 * (1 + 1e-5)).all()


def test_clipping_keeps_direction_and_short_records() -> None:
    given = contributions(1e-3)
    np.testing.assert_array_equal(clip_records(given, 1.0)["w"], given["w"])
    long = clip_records(contributions(100.0), 1.0)
    np.testing.assert_allclose(norms(long), 1.0, rtol=1e-5)
    ratio = np.asarray(long["w"]) / np.asarray(contributions(100.0)["w"])
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1, :1], ratio.shape), rtol=1e-5)


def test_a_zero_record_stays_zero() -> None:
    zero = jax.tree.map(jnp.zeros_like, contributions(1.0))
    assert (norms(clip_records(zero, 1.0)) == 0).all()


def test_one_record_however_large_moves_the_sum_by_at_most_the_clip() -> None:
    mechanism = gaussian(clip=0.5, noise_multiplier=1.0)
    others = contributions(1.0, records=20)
    for size in (1e-3, 1.0, 1e6, 1e15):
        canary = jax.tree.map(lambda leaf: jnp.full_like(leaf[:1], size), others)  # noqa: B023
        joined = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), others, canary)
        with_it, without = mechanism.release(KEY, joined), mechanism.release(KEY, others)
        moved = norms(jax.tree.map(lambda a, b: (a - b)[None], with_it, without))
        assert moved <= 0.5 * (1 + 1e-4)


def test_the_noise_has_the_stated_scale_and_no_other() -> None:
    zero = {"w": jnp.zeros((3, 20_000))}
    noise = np.asarray(gaussian(clip=0.5, noise_multiplier=3.0).release(KEY, zero)["w"])
    assert kstest(noise / 1.5, "norm").pvalue > 1e-3
    for wrong in (2 / 3, 3 / 2):
        assert kstest(noise / (1.5 * wrong), "norm").pvalue < 1e-12


def test_leaves_and_keys_get_noise_of_their_own() -> None:
    zero = {"a": jnp.zeros((1, 50)), "b": jnp.zeros((1, 50))}
    mechanism = gaussian(clip=1.0, noise_multiplier=1.0)
    first, second = mechanism.release(KEY, zero), mechanism.release(jax.random.key(9), zero)
    assert not np.allclose(first["a"], first["b"])
    assert not np.allclose(first["a"], second["a"])


def test_a_huge_clip_and_no_noise_to_speak_of_is_the_exact_sum() -> None:
    given = contributions(1.0)
    released, plain = gaussian(clip=1e6, noise_multiplier=1e-12).release(KEY, given), exact().release(KEY, given)
    np.testing.assert_allclose(released["w"], plain["w"], atol=1e-4)
    np.testing.assert_allclose(plain["b"], given["b"].sum(axis=0), rtol=1e-6)


def test_mechanisms_state_what_they_release() -> None:
    assert gaussian(clip=2.0, noise_multiplier=1.5).event == Gaussian(noise_multiplier=1.5)
    assert isinstance(exact().event, NonPrivate)
