from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.accounting.events import NonPrivate, PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.inference import dpvi
from dpinfer.inference.base import Algorithm
from dpinfer.inference.dpvi import Randomness
from dpinfer.inference.run import run
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import clip_only, exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import hierarchical, logistic
from dpinfer.sampling.base import Batch

COUNT = 300


def build(mechanism: Mechanism, **changes: Any) -> Algorithm:
    stated: dict[str, Any] = {"expected_batch": 50, "num_steps": 4000, "learning_rate": 0.01, **changes}
    return dpvi.build(stated.pop("model", logistic.build()), mechanism, COUNT, **stated)


def records() -> dict[str, jax.Array]:
    x = jax.random.normal(jax.random.key(0), (COUNT, 2))
    chance = jax.nn.sigmoid(x @ np.array([1.0, -2.0]))
    return {"x": x, "y": (jax.random.uniform(jax.random.key(1), (COUNT,)) < chance).astype(int)}


def laplace(data: dict[str, jax.Array]) -> tuple[np.ndarray, np.ndarray]:
    """Mode and the inverse of the curvature's diagonal: where a Gaussian guide of independent parts must end."""

    def potential(w: jax.Array) -> jax.Array:
        return -jax.nn.log_sigmoid((2 * data["y"] - 1) * (data["x"] @ w)).sum() + (w**2).sum() / 2

    w = jnp.zeros(2)
    for _ in range(50):
        w = w - jnp.linalg.solve(jax.hessian(potential)(w), jax.grad(potential)(w))
    return np.asarray(w), np.asarray(1 / jnp.sqrt(jnp.diag(jax.hessian(potential)(w))))


@pytest.mark.parametrize("sampler", ["poisson", "subset"])
def test_without_privacy_it_finds_the_posterior(sampler: str) -> None:
    data = records()
    mode, spread = laplace(data)
    guide = run(build(exact(), sampler=sampler), jax.random.key(2), data, 4000).state.guide
    np.testing.assert_allclose(guide["loc"], mode, atol=0.12)
    np.testing.assert_allclose(np.exp(guide["log_scale"]), spread, rtol=0.25)


def test_a_huge_clip_and_hardly_any_noise_give_the_plain_algorithm() -> None:
    data = records()
    plain = run(build(exact()), jax.random.key(2), data, 100).state.guide
    private = run(build(gaussian(1e6, 1e-12)), jax.random.key(2), data, 100).state.guide
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-4), private, plain)


def drawn(mask: jax.Array) -> Randomness:
    size = mask.shape[0]
    batch = Batch(jnp.arange(size), mask)
    return Randomness(batch, jnp.zeros((size, 2)), {}, {"loc": jnp.zeros(2), "log_scale": jnp.zeros(2)})


def test_a_sum_is_divided_by_the_expected_size_of_a_batch_never_by_the_realised_one() -> None:
    algorithm = build(gaussian(1e6, 1e-12), optimiser="sgd", learning_rate=1.0)
    state, data = algorithm.init(jax.random.key(0), records()), records()
    one, two = (jnp.arange(8) < count for count in (1, 2))
    empty, first, both = (algorithm.update(drawn(m), state, data)[0].guide for m in (one & False, one, two))
    second = algorithm.update(drawn(two & ~one), state, data)[0].guide
    assert not jnp.any(empty["loc"])
    np.testing.assert_allclose(both["loc"], first["loc"] + second["loc"], rtol=1e-5)
    gradient = jax.grad(lambda w: jax.nn.log_sigmoid((2 * data["y"][0] - 1) * (data["x"][0] @ w)))(jnp.zeros(2))
    np.testing.assert_allclose(first["loc"], gradient / 50, rtol=1e-4)


def test_its_event_is_that_of_its_sampler() -> None:
    rate = 50 / COUNT
    for sampler, kind in (("poisson", PoissonGaussian), ("subset", SubsetGaussian)):
        event = build(gaussian(1.0, 2.0), sampler=sampler).event(7)
        assert event == Repeat(event=kind(noise_multiplier=2.0, sampling_rate=rate), count=7)
    clipped = build(clip_only(1.0)).event(7)
    assert isinstance(clipped, Repeat)
    assert isinstance(clipped.event, NonPrivate)


def test_the_hierarchical_model_draws_a_deviation_for_each_record() -> None:
    data = {
        **records(),
        "x": jax.random.normal(jax.random.key(5), (COUNT, 5)),
        "group_features": jnp.ones((COUNT, 3)),
    }
    algorithm = build(gaussian(1.0, 1.0), model=hierarchical.build())
    state = algorithm.init(jax.random.key(0), data)
    deviation = algorithm.random(jax.random.key(1), state).local["deviation"]
    assert deviation.shape[1] == 5
    assert len(np.unique(np.asarray(deviation))) == deviation.size
    after, _ = algorithm.step(jax.random.key(1), state, data)
    assert after.guide["loc"].shape == (5, 3)
