"""Metrics at several places, and the one that DPVI's released code computes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from dpinfer.models import mixture
from metrics.fits import fitted
from pipeline.metrics.mixture import component_names, components, density, grid
from pipeline.metrics.predictions import log_likelihood_one_draw

MODEL = mixture.build(components=2, prior_on="variance")
POINT = {
    "sticks": jnp.zeros(1),
    "means": jnp.array([[-1.0, 2.0], [1.0, 0.5]]),
    "log_spread": jnp.log(jnp.array([0.5, 2.0])),
}
TEST = {"x": jax.random.normal(jax.random.key(1), (10, 2))}


def truth(points: np.ndarray) -> np.ndarray:
    parts = [
        multivariate_normal.pdf(points, mean, variance)
        for mean, variance in zip(np.asarray(POINT["means"]), (0.5, 2.0), strict=True)
    ]
    return np.mean(parts, axis=0)


def test_the_density_is_that_of_the_mixture_on_the_grid() -> None:
    places = grid()
    points = np.stack([places["x"], places["y"]], axis=1)
    found = jax.jit(lambda: density(fitted(MODEL, lambda _: POINT)))()
    np.testing.assert_allclose(found, truth(points), rtol=1e-3, atol=1e-7)


def test_the_density_is_averaged_over_draws() -> None:
    def sample(key: jax.Array) -> dict[str, jax.Array]:
        return {**POINT, "means": POINT["means"] + jax.random.normal(key, (2, 2))}

    wide = jax.jit(lambda: density(fitted(MODEL, sample)))()
    # Where the centre is uncertain by a variance of one, variances grow by one.
    own = {**POINT, "log_spread": jnp.log(jnp.array([1.5, 3.0]))}
    expected = jax.jit(lambda: density(fitted(MODEL, lambda _: own)))()
    np.testing.assert_allclose(wide, expected, atol=0.01)
    assert not np.allclose(wide, jax.jit(lambda: density(fitted(MODEL, lambda _: POINT)))(), atol=0.02)


def test_components_are_named_and_in_the_units_of_the_data() -> None:
    places = component_names(MODEL, lambda _: POINT)
    values = jax.jit(lambda: components(fitted(MODEL, lambda _: POINT)))()
    found = dict(zip(zip(places["quantity"], places["component"], strict=True), values.tolist(), strict=True))
    assert found[("weight", 1)] == pytest.approx(0.5)
    assert (found[("x", 0)], found[("y", 0)]) == pytest.approx((-1.0, 2.0))
    assert (found[("variance", 0)], found[("variance", 1)]) == pytest.approx((0.5, 2.0))


def test_the_prior_on_deviations_is_told_from_that_on_variances() -> None:
    model = mixture.build(components=2, prior_on="deviation")
    assert model.describe(POINT)["variance"].tolist() == pytest.approx([0.25, 4.0])


def test_one_draw_stands_for_ten_whose_logarithm_is_taken_off_once() -> None:
    found = log_likelihood_one_draw(fitted(MODEL, lambda _: POINT, test=TEST))
    expected = np.log(truth(np.asarray(TEST["x"]))).mean() - np.log(10) / 10
    assert float(found) == pytest.approx(expected, rel=1e-4)
