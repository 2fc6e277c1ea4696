"""Quadrature of a posterior with two parameters."""

import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.models import two_modes
from dpinfer.models.base import Model, no_outcome
from pipeline.datasets import generated
from pipeline.metrics import chains
from pipeline.settings.data import TwoModesData as Data


def test_a_gaussian_posterior_has_its_known_moments() -> None:
    # x ~ N(a, 1) tells a alone; b keeps its prior N(1, 0.5).
    model = Model(
        init=lambda key, records: jnp.zeros(2),  # noqa: ARG005
        log_prior=lambda theta: -0.5 * (theta[0] ** 2 + 2 * (theta[1] - 1) ** 2),
        log_likelihood=lambda theta, record: -0.5 * (record["x"] - theta[0]) ** 2,
        predict=no_outcome,
    )
    x = np.random.default_rng(0).normal(0.5, 1.0, 5000)
    found = chains.moments(model, {"x": jnp.asarray(x)}, 9.0)
    np.testing.assert_allclose(found["mean"], [0.9 * x.mean(), 1.0], atol=1e-3)
    np.testing.assert_allclose(found["variance"], [0.1, 0.5], rtol=2e-3)


def test_the_two_modes_have_the_moments_that_were_computed_from_the_true_density() -> None:
    data = generated.two_modes(Data(), lambda name: (_ for _ in ()).throw(KeyError(name)))
    found = chains.moments(two_modes.build(), {"x": jnp.asarray(data.train["x"])}, 100.0)
    np.testing.assert_allclose(found["mean"], [0.490, 0.018], atol=0.005)
    np.testing.assert_allclose(found["variance"], [0.2008, 0.7197], rtol=0.01)
    assert float(found["positive"]) == pytest.approx(0.505, abs=0.01)
