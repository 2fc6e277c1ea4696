from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from numpyro.distributions.transforms import StickBreakingTransform
from scipy import stats

from dpinfer.errors import InputError
from dpinfer.inference import dpvi
from dpinfer.mechanism.exact import exact
from dpinfer.models import mixture
from dpinfer.models.mixture import log_weights
from metrics.fits import fitted
from pipeline.datasets.base import Fetched
from pipeline.datasets.generated import five_clusters
from pipeline.metrics.predictions import log_likelihood
from pipeline.settings.data import FiveClusters

RECORDS = {"x": jnp.zeros((7, 2))}


def no_files(name: str) -> Fetched:
    raise AssertionError(f"{name} is asked for, but the data are generated")


def parameters(seed: int, width: float = 1.5) -> dict[str, jax.Array]:
    shapes = mixture.build().init(jax.random.key(0), RECORDS)
    keys = iter(jax.random.split(jax.random.key(seed), len(shapes)))
    return jax.tree.map(lambda leaf: width * jax.random.normal(next(keys), leaf.shape), shapes)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("shape", "rate"), [(1.0, 1.0), (10.0, 0.1)])
def test_the_prior_is_that_of_numpyro_with_both_jacobians(seed: int, shape: float, rate: float) -> None:
    at = parameters(seed)
    stick_breaking = StickBreakingTransform()
    weights, spread = stick_breaking(at["sticks"]), jnp.exp(at["log_spread"])
    expected = (
        dist.Dirichlet(jnp.ones(5)).log_prob(weights)
        + stick_breaking.log_abs_det_jacobian(at["sticks"], weights)
        + dist.Normal(0, 1).log_prob(at["means"]).sum()
        + (dist.InverseGamma(shape, rate).log_prob(spread) + at["log_spread"]).sum()
    )
    found = mixture.build(shape=shape, rate=rate).log_prior(at)
    assert float(found) == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize("components", [2, 3, 5])
def test_zero_sticks_are_equal_weights_and_all_weights_sum_to_one(components: int) -> None:
    np.testing.assert_allclose(jnp.exp(log_weights(jnp.zeros(components - 1))), 1 / components, rtol=1e-5)
    for seed in range(5):
        sticks = 5 * jax.random.normal(jax.random.key(seed), (components - 1,))
        np.testing.assert_allclose(jnp.exp(log_weights(sticks)).sum(), 1, rtol=1e-5)


@pytest.mark.parametrize(("prior_on", "power"), [("deviation", 1.0), ("variance", 0.5)])
def test_the_likelihood_sums_the_components_out(prior_on: Literal["deviation", "variance"], power: float) -> None:
    at, x = parameters(3, 0.7), np.array([0.4, -1.1])
    deviation = np.exp(power * np.asarray(at["log_spread"], dtype=float))
    each = stats.norm.pdf(x, np.asarray(at["means"]), deviation[:, None]).prod(axis=1)
    weights = np.asarray(StickBreakingTransform()(at["sticks"]))
    found = mixture.build(prior_on=prior_on).log_likelihood(at, {"x": jnp.asarray(x)})
    assert float(found) == pytest.approx(np.log(weights @ each), rel=1e-4)


def test_the_true_density_has_the_known_log_likelihood() -> None:
    data = five_clusters(FiveClusters(), no_files)
    truth = {
        "sticks": jnp.zeros(4),
        "means": jnp.asarray(data.facts["means"]),
        "log_spread": jnp.full(5, 0.5 * np.log(data.facts["variance"])),
    }
    test = {"x": jnp.asarray(data.test["x"])}
    found = log_likelihood(fitted(mixture.build(), lambda _: truth, test=test))
    assert float(found) == pytest.approx(-3.676, abs=5e-4)


@pytest.mark.parametrize("log_spread", [-200.0, -40.0, 200.0])
def test_gradients_stay_finite_and_lead_back_from_absurd_spreads(log_spread: float) -> None:
    model, record = mixture.build(), {"x": jnp.array([0.3, 1.0])}
    at = parameters(1) | {"log_spread": jnp.full(5, log_spread)}
    gradient = jax.grad(lambda p: model.log_prior(p) + model.log_likelihood(p, record))(at)
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(gradient)))
    assert jnp.isfinite(norm)
    assert jnp.all(jnp.sign(gradient["log_spread"]) == -np.sign(log_spread))


def test_components_start_apart_and_by_the_key() -> None:
    model = mixture.build()
    one, other = (model.init(jax.random.key(seed), RECORDS) for seed in (0, 1))
    assert len(np.unique(np.asarray(one["means"]))) == 10
    assert not jnp.array_equal(one["means"], other["means"])
    assert one["sticks"].shape == (4,)
    assert one["log_spread"].shape == (5,)


def test_it_has_no_outcome_to_predict() -> None:
    with pytest.raises(InputError, match="predicts no outcome"):
        mixture.build().predict(jax.random.key(0), parameters(0), RECORDS)


def test_variational_inference_finds_the_posterior_of_two_clusters() -> None:
    signs = np.where(np.arange(400) % 2, 1.0, -1.0)[:, None]
    data = {"x": jnp.asarray(2 * signs + 0.5 * np.random.default_rng(0).standard_normal((400, 1)))}
    algorithm = dpvi.build(
        mixture.build(components=2), exact(), 400, expected_batch=100, num_steps=600, learning_rate=0.02
    )
    state = algorithm.init(jax.random.key(0), data)
    # A start with the components apart: from nearly equal ones some runs end in one broad component.
    loc = state.guide["loc"] | {"means": jnp.array([[-1.0], [1.0]])}
    narrow = jax.tree.map(lambda leaf: jnp.full(leaf.shape, -2.0), loc)
    state = state._replace(guide={"loc": loc, "log_scale": narrow})
    keys = jax.random.split(jax.random.key(1), 600)
    guide = jax.lax.scan(lambda now, key: (algorithm.step(key, now, data)[0], None), state, keys)[0].guide
    np.testing.assert_allclose(guide["loc"]["means"][:, 0], [-2, 2], atol=0.15)
    np.testing.assert_allclose(np.exp(guide["loc"]["log_spread"]), 0.5, rtol=0.15)
    np.testing.assert_allclose(np.exp(log_weights(guide["loc"]["sticks"])), 0.5, atol=0.1)
    # 200 records each with deviation 0.5 leave this much doubt about a mean.
    np.testing.assert_allclose(np.exp(guide["log_scale"]["means"]), 0.5 / np.sqrt(200), rtol=0.35)
