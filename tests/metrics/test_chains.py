"""Metrics of chains on two modes."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.errors import InputError
from dpinfer.inference import running_moments
from dpinfer.models import two_modes
from metrics.fits import fitted
from pipeline.metrics import chains
from pipeline.settings.cell import Descent
from pipeline.settings.data import TwoModesData as Data
from pipeline.settings.model import TwoModes

MODEL = two_modes.build()
THETA = jnp.array([[9.0, 9.0], [1.0, -1.0], [3.0, 1.0], [2.0, 3.0]])
COUNTED = np.asarray(THETA[1:])


def trace() -> SimpleNamespace:
    """Every step is recorded; the first is the burn-in."""
    recorded = [running_moments.zero(THETA[0])]
    for theta in THETA:
        recorded.append(running_moments.add(recorded[-1], theta, 1))
    return SimpleNamespace(
        parameters=THETA, moments=jax.tree.map(lambda *leaves: jnp.stack(leaves), *recorded[1:])
    )


def test_draws_are_those_after_the_burn_in() -> None:
    found = chains.draws(fitted(MODEL, trace=trace()))
    np.testing.assert_array_equal(found["theta_1"], [np.nan, 1, 3, 2])
    assert float(found["mean_2"]) == pytest.approx(COUNTED[:, 1].mean())
    assert float(found["variance_1"]) == pytest.approx(COUNTED[:, 0].var())
    assert float(found["correlation"]) == pytest.approx(np.corrcoef(COUNTED.T)[0, 1])
    assert float(found["positive"]) == pytest.approx(2 / 3)


def test_errors_are_those_of_running_moments() -> None:
    exact = {"mean": np.array([0.5, 0.0]), "variance": np.array([0.2, 0.7])}
    found = chains.moment_error(fitted(MODEL, trace=trace(), reference=exact))
    assert np.isnan(found["mean_error_1"][0])
    assert float(found["running_mean_1"][2]) == pytest.approx(2.0)
    assert float(found["mean_error_1"][2]) == pytest.approx(1.5)
    assert float(found["mean_gap_1"][2]) == pytest.approx(2.0 - 0.432)
    assert float(found["variance_error_2"][-1]) == pytest.approx(COUNTED[:, 1].var() - 0.7, rel=1e-5)


def test_moments_of_other_methods_are_refused() -> None:
    settings = Descent(data=Data(), model=TwoModes(), num_steps=1, learning_rate=1.0, clip=1.0, epsilon=np.inf)
    with pytest.raises(InputError, match="moment_error is of chains, but the method descent is none"):
        chains.exact_moments(settings, MODEL, {"x": jnp.zeros(3)})
