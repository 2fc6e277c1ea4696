from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.stats import kstest

from dpinfer.accounting.events import Gaussian, NonPrivate
from dpinfer.clipping.sums import clipped_sum
from dpinfer.errors import InputError
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import clip_only, exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.unsafe.mechanisms import unclipped

KEY = jax.random.key(0)
Trees = dict[str, jax.Array]


def gradients(scale: float, records: int = 5) -> Trees:
    w, b = jax.random.split(jax.random.key(1))
    return {"w": scale * jax.random.normal(w, (records, 3, 2)), "b": scale * jax.random.normal(b, (records, 4))}


def linear(parameters: Trees, example: Trees) -> jax.Array:
    """A loss whose gradient is the example itself."""
    return sum((parameters[name] * example[name]).sum() for name in parameters)  # type: ignore[return-value]


def origin(examples: Trees) -> Trees:
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape[1:]), examples)


def everyone(examples: Trees) -> jax.Array:
    return jnp.ones(len(next(iter(examples.values()))), bool)


def total(examples: Trees, clip: float, mask: jax.Array | None = None, **options: Any) -> Trees:
    mask = everyone(examples) if mask is None else mask
    return clipped_sum(linear, origin(examples), examples, mask, clip, **options).total


def release(mechanism: Mechanism, examples: Trees, key: jax.Array = KEY) -> Trees:
    noise = mechanism.random(key, origin(examples))
    return mechanism.release(noise, linear, origin(examples), examples, everyone(examples))


def assert_close(first: Trees, second: Trees) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), first, second)


def norm(tree: Trees) -> float:
    return float(np.linalg.norm(np.concatenate([np.asarray(leaf, float).ravel() for leaf in tree.values()])))


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1.0, 1e6, 1e18])
def test_no_record_exceeds_the_clip_jointly_over_leaves(scale: float) -> None:
    assert norm(total(gradients(scale, records=1), 0.7)) <= 0.7 * (1 + 1e-5)


def test_short_gradients_pass_and_long_ones_keep_their_direction() -> None:
    short, long = gradients(1e-3), gradients(100.0, records=1)
    np.testing.assert_allclose(total(short, 1.0)["w"], short["w"].sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(total(long, 1.0)["w"] * norm(long), long["w"][0], rtol=1e-4)
    assert norm(total(long, 1.0)) == pytest.approx(1.0, rel=1e-5)


def test_a_zero_gradient_stays_zero() -> None:
    assert norm(total(jax.tree.map(jnp.zeros_like, gradients(1.0)), 1.0)) == 0


def test_one_record_however_large_moves_the_sum_by_at_most_the_clip() -> None:
    others = gradients(1.0, records=20)
    for size in (1e-3, 1.0, 1e6, 1e15):
        canary = jax.tree.map(lambda leaf, size=size: jnp.full_like(leaf[:1], size), others)
        joined = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), others, canary)
        moved = jax.tree.map(jnp.subtract, total(joined, 0.5), total(others, 0.5))
        assert norm(moved) <= 0.5 * (1 + 1e-4)


def test_masked_out_records_count_nothing_whatever_they_hold() -> None:
    examples = gradients(1.0, records=4)
    mask = jnp.array([True, False, True, False])
    kept = jax.tree.map(lambda leaf: leaf[mask], examples)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), total(examples, 1.0, mask), total(kept, 1.0)
    )
    plain = exact().release((), linear, origin(examples), examples, mask)
    np.testing.assert_allclose(plain["b"], kept["b"].sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("micro_batch", [1, 2, 3, 5, 7])
def test_micro_batches_change_nothing(micro_batch: int) -> None:
    examples = gradients(3.0, records=7)
    mask = jnp.arange(7) % 3 != 0
    whole, parts = total(examples, 1.0, mask), total(examples, 1.0, mask, micro_batch=micro_batch)
    assert_close(whole, parts)


def test_the_noise_has_the_stated_scale_and_no_other() -> None:
    noise = np.asarray(release(gaussian(clip=0.5, noise_multiplier=3.0), {"w": jnp.zeros((3, 20_000))})["w"])
    assert kstest(noise / 1.5, "norm").pvalue > 1e-3
    for wrong in (2 / 3, 3 / 2):
        assert kstest(noise / (1.5 * wrong), "norm").pvalue < 1e-12


def test_leaves_and_keys_get_noise_of_their_own() -> None:
    zero = {"a": jnp.zeros((1, 50)), "b": jnp.zeros((1, 50))}
    mechanism = gaussian(clip=1.0, noise_multiplier=1.0)
    first, second = release(mechanism, zero), release(mechanism, zero, jax.random.key(9))
    assert not np.allclose(first["a"], first["b"])
    assert not np.allclose(first["a"], second["a"])


def test_a_huge_clip_and_no_noise_to_speak_of_is_the_exact_sum() -> None:
    examples = gradients(1.0)
    released, plain = release(gaussian(clip=1e6, noise_multiplier=1e-12), examples), release(exact(), examples)
    np.testing.assert_allclose(released["w"], plain["w"], atol=1e-4)
    np.testing.assert_allclose(plain["b"], examples["b"].sum(axis=0), rtol=1e-5)


def test_clipping_alone_is_the_private_sum_without_its_noise() -> None:
    examples = gradients(5.0)
    quiet = release(gaussian(clip=1.0, noise_multiplier=1e-12), examples)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), release(clip_only(1.0), examples), quiet
    )


def test_mechanisms_state_what_they_release() -> None:
    assert gaussian(clip=2.0, noise_multiplier=1.5).event == Gaussian(noise_multiplier=1.5)
    assert isinstance(exact().event, NonPrivate)
    assert isinstance(clip_only(1.0).event, NonPrivate)


@pytest.mark.parametrize("clip", [0.0, -1.0, float("inf"), float("nan")])
def test_an_impossible_clip_is_refused(clip: float) -> None:
    with pytest.raises(InputError, match="but should be positive and finite"):
        gaussian(clip=clip, noise_multiplier=1.0)


def test_examples_of_one_record_together_respect_the_clip() -> None:
    mechanism = gaussian(2.0, 1e-12, examples_per_record=4)
    same = jax.tree.map(lambda leaf: jnp.repeat(leaf[:1], 4, axis=0), gradients(100.0))
    assert float(optax.tree.norm(release(mechanism, same))) == pytest.approx(2.0, rel=1e-4)
    assert mechanism.event == gaussian(2.0, 1e-12).event


def test_without_a_clip_there_is_noise_but_no_guarantee() -> None:
    large = gradients(100.0)
    mechanism = unclipped(2.0, 1e-12)
    assert_close(release(mechanism, large), jax.tree.map(lambda leaf: leaf.sum(axis=0), large))
    assert isinstance(mechanism.event, NonPrivate)
    nothing = jax.tree.map(lambda leaf: jnp.zeros((1, 1000, *leaf.shape[1:])), gradients(1.0))
    noise = np.concatenate([leaf.ravel() for leaf in jax.tree.leaves(release(unclipped(2.0, 3.0), nothing))])
    assert kstest(noise / 6.0, "norm").pvalue > 1e-3
    assert kstest(noise / 4.0, "norm").pvalue < 1e-6
    assert float(unclipped(2.0, 3.0).noise_std) == float(gaussian(2.0, 3.0).noise_std) == 6.0
