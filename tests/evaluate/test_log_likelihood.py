import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer import models
from dpinfer.evaluate import log_likelihood
from dpinfer.settings.model import Hierarchical, Logistic

KEY = jax.random.key(0)
TEST = {"x": jax.random.normal(jax.random.key(1), (60, 2)), "y": jnp.arange(60) % 2}
WEIGHTS = jnp.array([1.0, -1.0])


def test_of_one_point_it_is_the_mean_log_likelihood() -> None:
    expected = jax.nn.log_sigmoid((2 * TEST["y"] - 1) * (TEST["x"] @ WEIGHTS)).mean()
    found = log_likelihood.metric(KEY, models.build(Logistic()), lambda _: WEIGHTS, TEST)
    assert float(found) == pytest.approx(float(expected), rel=1e-5)


def test_probabilities_are_averaged_over_draws_not_their_logarithms() -> None:
    def sample(key: jax.Array) -> jax.Array:
        return 3.0 * jax.random.rademacher(key, (1,)).astype(float) * WEIGHTS

    # Opposite weights in equal shares give every outcome probability one half.
    found = log_likelihood.metric(KEY, models.build(Logistic()), sample, TEST)
    assert float(found) == pytest.approx(np.log(0.5), abs=0.02)


def test_what_a_model_integrates_out_is_drawn_anew_with_every_draw() -> None:
    records = {"x": jnp.full((3, 5), 0.4), "group_features": jnp.ones((3, 3)), "y": jnp.array([1, 1, 0])}
    effects = jnp.full((5, 3), 0.5)
    logits = (1.5 + np.random.default_rng(0).standard_normal((200_000, 5))) @ np.full(5, 0.4)
    chance = (1 / (1 + np.exp(-logits))).mean()
    found = log_likelihood.metric(KEY, models.build(Hierarchical()), lambda _: effects, records)
    assert float(found) == pytest.approx((2 * np.log(chance) + np.log(1 - chance)) / 3, abs=0.01)
