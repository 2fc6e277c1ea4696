"""What DPVI's released code does beside Algorithm 1, one by one, against closed forms."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.accounting.events import Repeat, ReplacementGaussian
from dpinfer.errors import InputError
from dpinfer.inference import dpvi
from dpinfer.inference.base import Algorithm
from dpinfer.inference.dpvi import Randomness, State
from dpinfer.inference.run import run
from dpinfer.mechanism.exact import exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import logistic, mixture
from dpinfer.sampling.base import Batch

COUNT, SIZE = 40, 8
HARDLY_ANY = 1e-12


def build(noise_multiplier: float | None, clip: float = 0.5, **changes: Any) -> Algorithm:
    stated: dict[str, Any] = {
        "expected_batch": SIZE, "num_steps": 100, "sampler": "replacement", "optimiser": "sgd",
        "learning_rate": 1.0, **changes,
    }  # fmt: skip
    draws = stated.get("draws", 1)
    mechanism = (
        exact() if noise_multiplier is None else gaussian(clip, noise_multiplier, examples_per_record=draws)
    )
    return dpvi.build(stated.pop("model", logistic.build()), mechanism, COUNT, **stated)


def records() -> dict[str, jax.Array]:
    return {"x": jax.random.normal(jax.random.key(0), (COUNT, 2)), "y": jnp.arange(COUNT) % 2}


def drawn(draws: int) -> Randomness:
    batch = Batch(jnp.arange(SIZE), jnp.ones(SIZE, bool))
    noise = {"loc": jnp.zeros(2), "log_scale": jnp.zeros(2)}
    return Randomness(batch, jax.random.normal(jax.random.key(1), (draws, 2)), {}, noise)


def step(randomness: Randomness, **changes: Any) -> dict[str, Any]:
    """The gradient that the optimiser got: plain descent from zero with step size 1 moves by minus it."""
    algorithm = build(HARDLY_ANY, **changes)
    state = algorithm.init(jax.random.key(0), records())
    guide = algorithm.update(randomness, state, records())[0].guide
    return jax.tree.map(lambda leaf: -np.asarray(leaf), guide)


def likelihood_gradient(record: int, unit: jax.Array) -> np.ndarray:
    """Of one record's negative log-likelihood by (loc, log_scale), at loc 0 and log_scale 0, by hand."""
    x, sign = records()["x"][record], 2 * (record % 2) - 1
    by_weight = -sign * jax.nn.sigmoid(-sign * (x @ unit)) * x
    return np.concatenate([by_weight, by_weight * unit])


def clipped(gradient: np.ndarray, bound: float) -> np.ndarray:
    return gradient * min(1.0, bound / np.linalg.norm(gradient))


def joined(guide: dict[str, Any]) -> np.ndarray:
    return np.concatenate([guide["loc"], guide["log_scale"]])


def whole_gradient(record: int, unit: jax.Array) -> np.ndarray:
    """With the record's share of prior and entropy: the prior is N(0, I), so that its gradient is the draw."""
    regulariser = np.concatenate([unit, unit * unit - 1])
    return likelihood_gradient(record, unit) + regulariser / COUNT


@pytest.mark.parametrize(("scaled", "bound"), [(False, 0.5), (True, 0.5 * SIZE / COUNT)])
def test_scaling_before_the_clip_makes_the_clip_smaller(scaled: bool, bound: float) -> None:
    randomness = drawn(1)
    found = step(randomness, shared_draws=True, gradient_of="data", clip_scaled=scaled)
    expected = sum(clipped(whole_gradient(i, randomness.unit[0]), bound) for i in range(SIZE)) * COUNT / SIZE
    np.testing.assert_allclose(joined(found), expected, rtol=1e-4)


def test_the_optimiser_may_get_the_sum_over_the_batch() -> None:
    randomness = drawn(1)
    mean, total = (step(randomness, shared_draws=True, gradient_of=of) for of in ("record", "batch"))
    np.testing.assert_allclose(joined(total), SIZE * joined(mean), rtol=1e-5)


def test_every_draw_is_clipped_on_its_own_and_their_mean_respects_the_clip() -> None:
    randomness = drawn(4)
    found = step(randomness, draws=4, shared_draws=True, gradient_of="batch")
    each = [[clipped(whole_gradient(i, unit), 0.5) for unit in randomness.unit] for i in range(SIZE)]
    np.testing.assert_allclose(joined(found), np.mean(each, axis=1).sum(axis=0), rtol=1e-4)


def test_draws_of_their_own_are_as_many_as_records_times_draws() -> None:
    algorithm = build(1.0, draws=3)
    state = algorithm.init(jax.random.key(0), records())
    unit = algorithm.random(jax.random.key(1), state).unit
    assert unit.shape == (3 * SIZE, 2)
    assert len(np.unique(np.asarray(unit))) == unit.size


def test_several_draws_leave_the_noise_on_the_sum_as_it_is() -> None:
    """One record's examples together respect the clip, so the noise is in units of the clip, not of its parts."""
    algorithm = build(2e6, draws=4, gradient_of="batch", clip=1e-6)
    data = records()
    state = algorithm.init(jax.random.key(0), data)
    step = jax.jit(jax.vmap(lambda key: algorithm.step(key, state, data)[0].guide))
    moves = step(jax.random.split(jax.random.key(1), 1000))
    deviation = np.std(jax.tree.leaves(moves))
    assert deviation == pytest.approx(2.0, rel=0.08)
    assert deviation != pytest.approx(2.0 / 4, rel=0.5)


def test_a_regulariser_apart_is_neither_clipped_nor_scaled_with_the_batch() -> None:
    randomness = drawn(2)
    found = step(
        randomness, draws=2, shared_draws=True, gradient_of="data", regulariser="apart", entropy_weight=0.5,
        clip=1e-9,
    )  # fmt: skip
    units = np.asarray(randomness.unit)
    np.testing.assert_allclose(found["loc"], units.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(found["log_scale"], (units**2).mean(axis=0) - 0.5, atol=1e-5)


def test_its_event_says_that_records_may_be_drawn_again() -> None:
    event = build(2.0).event(7)
    assert event == Repeat(event=ReplacementGaussian(noise_multiplier=2.0, batch=SIZE, records=COUNT), count=7)


def test_blocks_of_a_mixture_have_step_sizes_of_their_own() -> None:
    moved = []
    for block_rates in ({}, {"means": 10.0}):
        algorithm = build(HARDLY_ANY, model=mixture.build(components=2), block_rates=block_rates)
        state: State = algorithm.init(jax.random.key(0), records())
        after = algorithm.step(jax.random.key(1), state, records())[0]
        moved.append(jax.tree.map(lambda new, old: np.asarray(new - old), after.guide, state.guide))
    plain, blocks = moved
    for part in ("loc", "log_scale"):
        np.testing.assert_allclose(blocks[part]["means"], 10 * plain[part]["means"], rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(blocks[part]["sticks"], plain[part]["sticks"], rtol=1e-5)


def test_a_block_that_does_not_exist_is_refused() -> None:
    algorithm = build(1.0, model=mixture.build(), block_rates={"mean": 1.0})
    with pytest.raises(InputError, match="block_rates names mean, but the blocks are"):
        algorithm.init(jax.random.key(0), records())


def test_the_code_of_the_paper_finds_the_posterior_where_nothing_is_clipped() -> None:
    data = records()
    algorithm = build(
        None, shared_draws=True, gradient_of="data", clip_scaled=True, optimiser="adagrad_window",
        learning_rate=0.01, expected_batch=40, sampler="subset",
    )  # fmt: skip
    guide = run(algorithm, jax.random.key(2), data, 4000).state.guide

    def potential(w: jax.Array) -> jax.Array:
        return -jax.nn.log_sigmoid((2 * data["y"] - 1) * (data["x"] @ w)).sum() + (w**2).sum() / 2

    w = jnp.zeros(2)
    for _ in range(20):
        w = w - jnp.linalg.solve(jax.hessian(potential)(w), jax.grad(potential)(w))
    np.testing.assert_allclose(guide["loc"], w, atol=0.15)


def test_the_slips_of_the_code_are_where_they_should_be() -> None:
    parameters = {
        "sticks": jnp.array([0.3, -0.2]),
        "means": jnp.array([[0.0, 1.0], [1.0, 0.5], [-1.0, 0.0]]),
        "log_spread": jnp.log(jnp.full(3, 0.7)),
    }
    right = mixture.build(components=3, prior_on="variance")
    code = mixture.build(components=3, prior_on="variance", jacobian="logarithm", normaliser="components")
    record = {"x": jnp.array([0.4, -0.3])}
    # With one variance for all, three factors in the place of two take off log(2 pi v) / 2.
    missing = float(right.log_likelihood(parameters, record) - code.log_likelihood(parameters, record))
    assert missing == pytest.approx(0.5 * np.log(2 * np.pi * 0.7), rel=1e-4)
    # v0, v1 and what is left: the determinant of the triangular map is w0 (1 - v0) w1 (1 - v1).
    v0, v1 = 1 / (1 + np.exp(-(0.3 - np.log(2)))), 1 / (1 + np.exp(0.2))
    log_determinant = np.log(v0 * (1 - v0) * (1 - v0) * v1 * (1 - v1))
    difference = float(right.log_prior(parameters) - code.log_prior(parameters))
    assert difference == pytest.approx(log_determinant - np.log(abs(log_determinant)), rel=1e-4)
