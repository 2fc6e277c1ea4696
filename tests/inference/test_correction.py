"""The correction of the logistic noise, by a mixture and by ridge regression, against known errors."""

from dataclasses import replace
from functools import cache

import jax
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from dpinfer.inference import correction
from dpinfer.inference.correction import Correction
from dpinfer.inference.names import LOGISTIC_VARIANCE, Fitting
from pipeline.studies import decomposition

X = np.linspace(-12, 12, 201)


@cache
def fitted(variance: float) -> Correction:
    return correction.fit(Fitting(variance=variance))


# Errors of the authors' way of fitting, to the digits that are known of them.
@pytest.mark.parametrize(("variance", "sup_error", "tvd"), [(1.0, 7.55e-5, 2.15e-4), (2.0, 2.55e-3, 5.65e-3)])
def test_a_fit_is_as_good_as_the_known_one(variance: float, sup_error: float, tvd: float) -> None:
    found = correction.diagnostics(fitted(variance), variance)
    assert found["sup_error"] < sup_error
    assert found["tvd"] < tvd
    assert found["variance"] == pytest.approx(LOGISTIC_VARIANCE - variance, abs=0.02)


def test_without_patience_a_fit_ends_early_with_the_best_so_far() -> None:
    # Steps so long that the loss soon goes up and down.
    hasty = Fitting(components=5, points=100, learning_rate=0.3, num_steps=2000)
    patient, impatient = (correction.fit(replace(hasty, patience=patience)) for patience in (2000, 20))
    whole, *shorter = [correction.fit(replace(hasty, num_steps=steps)) for steps in (2000, 100, 200, 300, 400)]
    assert _equal(patient, whole)
    assert not _equal(impatient, whole)
    assert any(_equal(impatient, fit) for fit in shorter)


def _equal(one: Correction, other: Correction) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_diagnostics_see_a_wrong_scale() -> None:
    right = fitted(2.0)
    wrong = right._replace(means=1.5 * right.means, deviations=1.5 * right.deviations)
    errors = [correction.diagnostics(one, 2.0)["sup_error"] for one in (right, wrong)]
    assert errors[1] > 2 * errors[0]


def test_density_and_distribution_function_belong_together_and_are_symmetric() -> None:
    found = fitted(2.0)
    inner = (X[1:] + X[:-1]) / 2
    slope = np.diff(correction.cdf(found, X, 2.0)) / np.diff(X)
    np.testing.assert_allclose(np.exp(correction.log_density(found, inner, 2.0)), slope, atol=1e-4)
    np.testing.assert_allclose(correction.cdf(found, X), 1 - correction.cdf(found, -X), atol=1e-12)


def test_draws_have_the_law_of_the_mixture_and_of_no_other() -> None:
    found = fitted(2.0)
    keys = jax.random.split(jax.random.key(4), 20_000)
    draws = np.asarray(jax.vmap(lambda key: correction.draw(found, correction.random(key)))(keys), np.float64)
    assert stats.kstest(draws, lambda x: correction.cdf(found, np.atleast_1d(x))).pvalue > 1e-3
    assert stats.kstest(1.2 * draws, lambda x: correction.cdf(found, np.atleast_1d(x))).pvalue < 1e-3


def test_a_mixture_survives_being_written() -> None:
    found = fitted(1.0)
    again = correction.from_dict(correction.to_dict(found))
    assert _equal(found, again)


def test_without_a_normal_part_the_mixture_is_logistic_itself() -> None:
    found = correction.fit(Fitting(variance=0.05, num_steps=2500, points=500))
    assert np.abs(correction.cdf(found, X, 0.05) - expit(X)).max() < 1e-3


# Computed with n = 500 and the penalty that goes with it.
@pytest.mark.parametrize(("variance", "sup_error"), [(1.0, 3.7e-4), (1.5, 0.0155), (1.75, 0.031), (2.0, 0.052)])
def test_the_errors_of_ridge_regression_are_the_known_ones(variance: float, sup_error: float) -> None:
    found = decomposition.fit_ridge(variance, 250, 10 * (250 / 4000) ** 2)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1)
    assert decomposition.ridge_diagnostics(found, variance)["sup_error"] == pytest.approx(sup_error, rel=0.2)


def test_the_total_variation_of_both_corrections_is_measured_alike() -> None:
    values = np.linspace(-10, 10, 2001)
    weights = np.exp(correction.log_density(fitted(2.0), values))
    on_grid = decomposition.Ridge(values, weights / weights.sum())
    exact = correction.diagnostics(fitted(2.0), 2.0)
    found = decomposition.ridge_diagnostics(on_grid, 2.0)
    assert found["tvd"] == pytest.approx(exact["tvd"], rel=0.05)
    assert found["variance"] == pytest.approx(exact["variance"], rel=0.01)
