"""Metrics of predictions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from dpinfer.models import classifier, hierarchical, logistic
from metrics.fits import fitted
from metrics.images import SIDE, images
from pipeline.metrics.predictions import accuracy, area, learning, log_likelihood, predictive_mean

LOGISTIC = logistic.build()
TEST = {"x": jax.random.normal(jax.random.key(1), (60, 2)), "y": jnp.arange(60) % 2}
WEIGHTS = jnp.array([1.0, -1.0])


def test_accuracy_counts_what_the_sign_of_the_logit_says() -> None:
    expected = ((TEST["x"] @ WEIGHTS >= 0) == (TEST["y"] == 1)).mean()
    found = accuracy(fitted(LOGISTIC, lambda _: WEIGHTS, test=TEST))
    assert float(found) == pytest.approx(float(expected))


@pytest.mark.parametrize("ties", [False, True])
def test_the_area_is_that_of_scikit_learn(ties: bool) -> None:
    score = jax.random.normal(jax.random.key(2), (200,))
    score = jnp.round(score) if ties else score
    positive = jax.random.uniform(jax.random.key(3), (200,)) < 0.3
    assert float(area(score, positive)) == pytest.approx(roc_auc_score(positive, score), abs=1e-6)


def test_the_predictive_mean_is_taken_over_draws() -> None:
    def sample(key: jax.Array) -> jax.Array:
        return 3.0 * jax.random.rademacher(key, (1,)).astype(float) * WEIGHTS

    even = predictive_mean(fitted(LOGISTIC, sample, test=TEST))
    np.testing.assert_allclose(even, 0.5, atol=0.08)


def test_the_hierarchical_prediction_integrates_the_deviation_out() -> None:
    records = {"x": jnp.full((1, 5), 0.4), "group_features": jnp.ones((1, 3))}
    effects = jnp.full((5, 3), 0.5)
    model = hierarchical.build()
    found = predictive_mean(fitted(model, lambda _: effects, test=records))
    weights = 1.5 + jax.random.normal(jax.random.key(7), (200_000, 5))
    np.testing.assert_allclose(found, jax.nn.sigmoid(weights @ records["x"][0]).mean(), atol=0.02)


def test_of_one_point_the_log_likelihood_is_the_mean_log_likelihood() -> None:
    expected = jax.nn.log_sigmoid((2 * TEST["y"] - 1) * (TEST["x"] @ WEIGHTS)).mean()
    found = log_likelihood(fitted(LOGISTIC, lambda _: WEIGHTS, test=TEST))
    assert float(found) == pytest.approx(float(expected), rel=1e-5)


def test_probabilities_are_averaged_over_draws_not_their_logarithms() -> None:
    def sample(key: jax.Array) -> jax.Array:
        return 3.0 * jax.random.rademacher(key, (1,)).astype(float) * WEIGHTS

    # Opposite weights in equal shares give every outcome probability one half.
    found = log_likelihood(fitted(LOGISTIC, sample, test=TEST))
    assert float(found) == pytest.approx(np.log(0.5), abs=0.02)


def test_what_a_model_integrates_out_is_drawn_anew_with_every_draw() -> None:
    records = {"x": jnp.full((3, 5), 0.4), "group_features": jnp.ones((3, 3)), "y": jnp.array([1, 1, 0])}
    effects = jnp.full((5, 3), 0.5)
    logits = (1.5 + np.random.default_rng(0).standard_normal((200_000, 5))) @ np.full(5, 0.4)
    chance = (1 / (1 + np.exp(-logits))).mean()
    found = log_likelihood(fitted(hierarchical.build(), lambda _: effects, test=records))
    assert float(found) == pytest.approx((2 * np.log(chance) + np.log(1 - chance)) / 3, abs=0.01)


def test_the_learning_curve_is_right_at_every_recording() -> None:
    model = classifier.build(image=(SIDE, SIDE), hidden=5)
    train, test = images(0, 300), images(1, 200)
    states = [model.init(jax.random.key(seed), train) for seed in range(3)]
    trace = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
    found = learning(fitted(model, trace=trace, train=train, test=test))
    for name, records in (("test_accuracy", test), ("train_accuracy", train)):
        expected = [
            np.mean(model.predict(jax.random.key(0), state, records).argmax(1) == records["y"]) for state in states
        ]
        np.testing.assert_allclose(found[name], expected, rtol=1e-6)
