import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from dpinfer import models
from dpinfer.evaluate import accuracy, auc
from dpinfer.posterior.predictive import predictive_mean
from dpinfer.settings.model import Hierarchical, Logistic

KEY = jax.random.key(0)
TEST = {"x": jax.random.normal(jax.random.key(1), (60, 2)), "y": jnp.arange(60) % 2}
WEIGHTS = jnp.array([1.0, -1.0])


def test_accuracy_counts_what_the_sign_of_the_logit_says() -> None:
    expected = ((TEST["x"] @ WEIGHTS >= 0) == (TEST["y"] == 1)).mean()
    found = accuracy.metric(KEY, models.build(Logistic()), lambda _: WEIGHTS, TEST)
    assert float(found) == pytest.approx(float(expected))


@pytest.mark.parametrize("ties", [False, True])
def test_the_area_is_that_of_scikit_learn(ties: bool) -> None:
    score = jax.random.normal(jax.random.key(2), (200,))
    score = jnp.round(score) if ties else score
    positive = jax.random.uniform(jax.random.key(3), (200,)) < 0.3
    assert float(auc.area(score, positive)) == pytest.approx(roc_auc_score(positive, score), abs=1e-6)


def test_the_predictive_mean_is_taken_over_draws() -> None:
    def sample(key: jax.Array) -> jax.Array:
        return 3.0 * jax.random.rademacher(key, (1,)).astype(float) * WEIGHTS

    even = predictive_mean(KEY, models.build(Logistic()), sample, TEST)
    np.testing.assert_allclose(even, 0.5, atol=0.08)


def test_the_hierarchical_prediction_integrates_the_deviation_out() -> None:
    records = {"x": jnp.full((1, 5), 0.4), "group_features": jnp.ones((1, 3))}
    effects = jnp.full((5, 3), 0.5)
    model = models.build(Hierarchical())
    found = predictive_mean(KEY, model, lambda _: effects, records)
    weights = 1.5 + jax.random.normal(jax.random.key(7), (200_000, 5))
    np.testing.assert_allclose(found, jax.nn.sigmoid(weights @ records["x"][0]).mean(), atol=0.02)
