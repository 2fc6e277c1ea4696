import jax
import numpy as np
from sklearn.linear_model import LogisticRegression

from dpinfer.accounting.events import Gaussian, Repeat
from dpinfer.inference import descent
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import run
from dpinfer.mechanism.exact import exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import logistic


def build(noise_multiplier: float | None) -> Algorithm:
    mechanism = exact() if noise_multiplier is None else gaussian(1e6, noise_multiplier)
    return descent.build(logistic.build(prior_std=2.0), mechanism, 400, learning_rate=1.0)


def records(count: int = 400) -> dict[str, jax.Array]:
    x = jax.random.normal(jax.random.key(0), (count, 3))
    chance = jax.nn.sigmoid(x @ np.array([1.0, -2.0, 0.5]))
    return {"x": x, "y": (jax.random.uniform(jax.random.key(1), (count,)) < chance).astype(int)}


def test_without_privacy_it_finds_the_mode_that_scikit_learn_finds() -> None:
    data = records()
    found = run(build(None), jax.random.key(2), data, 3000).state
    oracle = LogisticRegression(C=2.0**2, fit_intercept=False, tol=1e-10).fit(data["x"], data["y"])
    np.testing.assert_allclose(found, oracle.coef_[0], atol=2e-3)


def test_a_huge_clip_and_hardly_any_noise_give_the_same() -> None:
    data = records()
    plain = run(build(None), jax.random.key(2), data, 50).state
    private = run(build(1e-9), jax.random.key(2), data, 50).state
    np.testing.assert_allclose(private, plain, atol=1e-4)


def test_its_event_is_one_gaussian_release_for_each_step() -> None:
    assert build(2.5).event(7) == Repeat(event=Gaussian(noise_multiplier=2.5), count=7)
