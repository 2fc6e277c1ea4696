import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.accounting.events import NonPrivate, PoissonGaussian, Repeat
from dpinfer.accounting.published import sgld
from dpinfer.accounting.sound import pld
from dpinfer.errors import InputError
from dpinfer.inference import langevin as dynamics
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import run
from dpinfer.mechanism.exact import exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import logistic
from pipeline import accounts, experiment
from pipeline.settings.base import Claimed
from pipeline.settings.chain import Sgld
from pipeline.settings.data import Abalone
from pipeline.settings.model import Logistic
from pipeline.stages import calibrate

COUNT = 400
SETTINGS = Sgld(
    data=Abalone(), model=Logistic(), num_steps=400, epsilon=1.0, delta=1e-3, adjacency="replace-one",
    expected_batch=40, clip=1.0, step_size=1e-3, samples=200,
)  # fmt: skip


def settings(**changes: Any) -> Sgld:
    return dataclasses.replace(SETTINGS, **changes)


def build(noise_multiplier: float | None, **changes: Any) -> Algorithm:
    stated: dict[str, Any] = {
        "expected_batch": 40, "num_steps": 400, "step_size": 1e-3, "samples": 200, **changes
    }  # fmt: skip
    mechanism = exact() if noise_multiplier is None else gaussian(1.0, noise_multiplier)
    return dynamics.wang2015(logistic.build(), mechanism, COUNT, **stated)


def records(count: int = COUNT) -> dict[str, jax.Array]:
    return {"x": jax.random.normal(jax.random.key(0), (count, 2)), "y": jnp.arange(count) % 2}


def moves(algorithm: Algorithm, size: float = 1.0) -> np.ndarray:
    """Many first steps from zero, (steps, 2), on records of that size."""
    data = {"x": size * records()["x"], "y": records()["y"]}
    state = algorithm.init(jax.random.key(0), data)
    step = jax.jit(jax.vmap(lambda key: algorithm.step(key, state, data)[0].position))
    return np.asarray(step(jax.random.split(jax.random.key(1), 4000)))


def test_without_privacy_the_noise_has_variance_eta_and_the_drift_is_that_of_all_records() -> None:
    found, data = moves(build(None, sampler="subset", expected_batch=COUNT)), records()
    gradient = jax.grad(lambda w: jax.nn.log_sigmoid((2 * data["y"] - 1) * (data["x"] @ w)).sum())(jnp.zeros(2))
    np.testing.assert_allclose(found.mean(axis=0), 1e-3 * gradient, atol=4 * (1e-3 / 4000) ** 0.5)
    assert found.var() == pytest.approx(1e-3, rel=0.05)
    assert found.var() != pytest.approx(2e-3, rel=0.3)


@pytest.mark.parametrize(("noise", "variance"), [(0.1, 1e-3), (10.0, (1e-3 * 10 * 10.0) ** 2)])
def test_the_noise_is_the_larger_of_the_mechanisms_and_eta(noise: float, variance: float) -> None:
    """Scaled up to all records, ten times the batch, and by eta, the mechanism's is eta 10 noise clip."""
    # Gradients of hardly any size: what moves is noise.
    found = moves(build(noise), size=1e-6)
    assert found.var() == pytest.approx(variance, rel=0.06)


def test_the_schedule_is_harmonic_until_the_step_size() -> None:
    data = {"x": jnp.zeros((COUNT, 2)), "y": jnp.zeros(COUNT, int)}
    algorithm = build(None, schedule="harmonic", step_size=0.1)
    state = algorithm.init(jax.random.key(0), data)
    step = jax.jit(
        jax.vmap(lambda key, taken: algorithm.step(key, state._replace(taken=taken), data)[0].position, (0, None))
    )
    for taken, eta in ((0, 1.0), (3, 0.25), (50, 0.1)):
        found = np.asarray(step(jax.random.split(jax.random.key(1), 4000), jnp.asarray(taken, jnp.int32)))
        assert found.var() == pytest.approx(eta, rel=0.06)


def test_positions_stay_in_the_ball_and_the_last_ones_are_the_sample() -> None:
    algorithm = build(50.0, radius=0.5, step_size=0.1, num_steps=20, samples=7)
    state = run(algorithm, jax.random.key(0), records(), 20).state
    assert (np.linalg.norm(np.asarray(state.ring), axis=1) <= 0.5 + 1e-6).all()
    draws = jax.vmap(lambda key: algorithm.draw(key, state))(jax.random.split(jax.random.key(1), 200))
    assert len(np.unique(np.asarray(draws), axis=0)) == 7
    chain, at = [], algorithm.init(jax.random.fold_in(jax.random.key(0), 0), records())
    step = jax.jit(algorithm.step)
    for t in range(1, 21):
        at, _ = step(jax.random.fold_in(jax.random.key(0), t), at, records())
        chain.append(np.asarray(at.position))
    np.testing.assert_allclose(np.sort(state.ring, axis=0), np.sort(chain[-7:], axis=0), atol=1e-5)


def test_what_is_not_clipped_is_not_private_though_the_paper_says_so() -> None:
    claimed = Claimed(sampler="poisson", clipped=True)
    changed = settings(sampler="replacement", clipped=False, accountant="sgld", target="paper", claimed=claimed)
    noise = calibrate.noise(changed, COUNT)
    assert noise is not None
    algorithm = experiment.build(changed, COUNT, noise)
    event = algorithm.event(400)
    assert isinstance(event, Repeat)
    assert isinstance(event.event, NonPrivate)
    book = accounts.spent(changed, event, experiment.claimed(changed, COUNT, noise)(400))
    assert book.sound().upper == float("inf")
    assert book.paper() == pytest.approx(1.0, rel=1e-3)


def test_what_is_clipped_has_a_sound_epsilon_within_its_target() -> None:
    noise = calibrate.noise(SETTINGS, COUNT)
    assert noise is not None
    event = experiment.build(SETTINGS, COUNT, noise).event(400)
    assert 0.98 < pld.epsilon(event, 1e-3, "replace-one").upper <= 1.0


def test_the_noise_of_the_published_formula() -> None:
    """K of Abalone in the code of DPVI, written out: N = 3341, b = 167, ten passes, L = 5, epsilon = 1."""
    steps, bound, rate = 200, 5.0, 167 / 3341
    k = 128 * steps * bound**2 * np.log(5 * steps / (2 * 1e-3)) * np.log(2 / 1e-3)
    noise = np.sqrt(k) * rate / bound
    run_of = Repeat(PoissonGaussian(noise_multiplier=noise, sampling_rate=rate), steps)
    assert sgld.epsilon(run_of, 1e-3, "replace-one").upper == pytest.approx(1.0, rel=1e-9)
    with pytest.raises(InputError, match="is for replace-one adjacency"):
        sgld.epsilon(run_of, 1e-3, "add-remove")


def test_more_samples_than_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="samples is 500, but should be at most num_steps, 400"):
        settings(samples=500)
