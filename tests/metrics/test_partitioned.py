"""Metrics of partitioned variational inference."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.inference.natural import MeanField, divergence
from dpinfer.models import linear
from dpinfer.models.base import Quadratic
from metrics.fits import fitted
from pipeline.metrics.partitioned import gap, log_kl, natural

MODEL = linear.build(noise_std=2.0)
TRAIN = {"x": jax.random.normal(jax.random.key(1), (40, 2)) + 1, "y": jax.random.normal(jax.random.key(2), (40,))}


def kl(mean: np.ndarray, variance: np.ndarray, other: np.ndarray, precision: np.ndarray) -> float:
    """KL between two Gaussians by the textbook, in float64."""
    off = mean - other
    volumes = np.log(variance.prod() * np.linalg.det(precision))
    return float(np.diag(precision) @ variance + off @ precision @ off - 2 - volumes) / 2


def test_the_divergence_is_that_of_the_textbook() -> None:
    precision, mean = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([0.5, -1.0])
    found = divergence(
        MeanField(jnp.array([0.1, 0.2]), jnp.array([0.3, 0.7])),
        Quadratic(jnp.asarray(precision), precision @ mean),
    )
    wanted = kl(np.array([0.1, 0.2]), np.array([0.3, 0.7]), mean, precision)
    assert float(found) == pytest.approx(wanted, rel=1e-5)
    diagonal = jnp.array([2.0, 4.0])
    same = divergence(MeanField(jnp.ones(2), 1 / diagonal), Quadratic(jnp.diag(diagonal), diagonal))
    assert float(same) == pytest.approx(0.0, abs=1e-6)


def test_log_kl_is_measured_from_the_posterior_of_all_records() -> None:
    x, y = np.asarray(TRAIN["x"], float), np.asarray(TRAIN["y"], float)
    precision = np.eye(2) + x.T @ x / 4
    mean = np.linalg.solve(precision, x.T @ y / 4)
    posterior = jnp.array([[[1.0, 2.0], [4.0, 5.0]]]).repeat(30, axis=0)
    posterior = posterior * jnp.linspace(1, 3, 30)[:, None, None]
    found = log_kl(fitted(MODEL, trace={"posterior": posterior}, train=TRAIN))
    each = [np.log(kl(row[0] / row[1], 1 / row[1], mean, precision)) for row in np.asarray(posterior, float)]
    np.testing.assert_allclose(found["log_kl"], each, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found["log_kl_tail"][-1], np.mean(each[-3:]), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found["log_kl_tail_sd"][-1], np.std(each[-3:]), rtol=1e-2)
    np.testing.assert_allclose(found["log_kl_tail"][0], each[0], rtol=1e-4, atol=1e-4)


def test_natural_parameters_are_named() -> None:
    posterior = jnp.arange(12.0).reshape(3, 2, 2)
    found = natural(fitted(MODEL, trace={"posterior": posterior}))
    np.testing.assert_array_equal(found["natural_mean_1"], posterior[:, 0, 1])
    np.testing.assert_array_equal(found["precision_0"], posterior[:, 1, 0])
    assert len(found) == 4


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_the_exponent_of_a_gap_is_its_slope(exponent: float) -> None:
    found = gap(fitted(MODEL, trace={"gap": 7.0 * jnp.arange(1.0, 51) ** exponent}))
    assert float(found["gap_exponent"][-1]) == pytest.approx(exponent, abs=1e-4)
    assert np.isfinite(found["gap_exponent"]).all()
    closed = gap(fitted(MODEL, trace={"gap": jnp.zeros(5)}))["gap_exponent"]
    np.testing.assert_allclose(closed, 0, atol=1e-3)
