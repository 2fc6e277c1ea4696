"""The study of the decomposition of logistic noise."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from pipeline import registry
from pipeline.settings.study import Decomposition
from pipeline.studies.decomposition import _error

SMALL: dict[str, Any] = {"samples": 4000, "repeats": 3, "shown": 4000, "variance": 2.0}


def by_metric(settings: Decomposition) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for row in registry.study_rows(settings):
        values.setdefault(row["metric"], []).append(row["value"])
    return values


def test_the_error_of_samples_is_that_of_their_steps() -> None:
    assert _error(np.array([0.0])) == pytest.approx(0.5)
    assert _error(np.array([-40.0, 40.0])) == pytest.approx(0.5)


def test_ridge_regression_is_as_far_off_as_its_samples_show() -> None:
    found = by_metric(Decomposition(approximation="ridge", half_points=100, penalty=0.00625, **SMALL))
    assert len(found["sampled_error"]) == 3
    # Samples add their own error to an exact one of about 0.05.
    np.testing.assert_allclose(found["sampled_error"], found["sup_error"][0], atol=0.03)
    assert max(found["cdf_gap"]) == pytest.approx(found["sup_error"][0], abs=0.03)


def test_a_mixture_hides_below_the_noise_of_samples() -> None:
    found = by_metric(Decomposition(approximation="mixture", num_steps=300, **SMALL))
    assert found["sup_error"][0] < 0.02
    assert max(found["sampled_error"]) < 0.02 + 1.95 / 4000**0.5
    x = np.linspace(-7.5, 7.5, 301)
    np.testing.assert_allclose(found["cdf"], expit(x), atol=0.05)
    assert len(found["log_density"]) == 500
