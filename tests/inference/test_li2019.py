"""DP-SGLD: its noise is the diffusion, and the law that it settles in is known for a Gaussian."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.accounting.events import PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.errors import InputError
from dpinfer.inference import langevin
from dpinfer.inference.base import Algorithm
from dpinfer.inference.langevin import li2019_step_size
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models.base import Model, no_outcome
from pipeline.settings.chain import Langevin
from pipeline.settings.data import TwoModesData as Data
from pipeline.settings.model import TwoModes

N = 50
RECORDS = {"x": jnp.asarray(np.random.default_rng(3).normal(0.4, 1.0, N), jnp.float32)}
CLIP = 10.0
MODEL = Model(
    init=lambda key, records: jnp.zeros(1),  # noqa: ARG005
    log_prior=lambda theta: -0.5 * (theta**2).sum(),
    log_likelihood=lambda theta, record: -0.5 * (record["x"] - theta[0]) ** 2,
    predict=no_outcome,
)
# 20 tempered records of unit precision, and the prior's.
PRECISION = 21.0


def build(mechanism: Mechanism, num_records: int = N, **changes: Any) -> Algorithm:
    stated: dict[str, Any] = {"expected_batch": N, "sampler": "subset", "tempered_records": 20, **changes}
    return langevin.li2019(MODEL, mechanism, num_records, num_steps=10, clip=CLIP, **stated)


def ends(algorithm: Any, steps: int, chains: int) -> np.ndarray:
    state = algorithm.init(jax.random.key(0), RECORDS)

    def one(key: Any) -> Any:
        keys = jax.random.split(key, steps)
        return jax.lax.scan(lambda now, own: (algorithm.step(own, now, RECORDS)[0], None), state, keys)[0]

    done = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(7), chains))
    return np.asarray(done.parameters, np.float64)[:, 0]


def noise_for(step: float, diffusion: float) -> float:
    return N * math.sqrt(diffusion / (step * N)) / CLIP


def test_the_step_size_of_the_paper_follows_from_its_noise() -> None:
    for noise, diffusion in ((1.19523, 1.0), (1.69031, 2.0)):
        event = gaussian(0.01, noise).event
        found = li2019_step_size(event, 1_000_000, expected_batch=100, clip=0.01, diffusion=diffusion)
        assert found == pytest.approx(70, abs=1e-3)


@pytest.mark.parametrize("diffusion", [1.0, 2.0])
def test_one_step_drifts_and_diffuses_as_it_should(diffusion: float) -> None:
    step = 0.05
    noise = noise_for(step, diffusion)
    found = ends(build(gaussian(CLIP, noise), diffusion=diffusion), 1, 20_000)
    h = step / N
    assert found.var() == pytest.approx(diffusion * h, rel=5 * math.sqrt(2 / 20_000))
    expected = h * 20 * float(RECORDS["x"].mean())
    assert found.mean() == pytest.approx(expected, abs=5 * math.sqrt(diffusion * h / 20_000))


@pytest.mark.parametrize(("diffusion", "factor"), [(2.0, 1.0), (1.0, 0.5)])
def test_it_samples_the_posterior_and_with_half_the_noise_its_square(diffusion: float, factor: float) -> None:
    step = 0.25
    noise = noise_for(step, diffusion)
    found = ends(build(gaussian(CLIP, noise), diffusion=diffusion), 100, 4000)
    h = step / N
    # Of the chain theta <- (1 - h P) theta + N(0, diffusion h), which is 1 / P for diffusion 2 and a small step.
    variance = diffusion * h / (1 - (1 - h * PRECISION) ** 2)
    assert variance == pytest.approx(factor / PRECISION, rel=0.1)
    assert found.var() == pytest.approx(variance, rel=4 * math.sqrt(2 / 4000))
    assert found.mean() == pytest.approx(20 * float(RECORDS["x"].mean()) / PRECISION, abs=0.02)


def test_without_privacy_the_noise_is_the_same() -> None:
    found = ends(build(exact(), step_size=0.25), 1, 20_000)
    assert found.var() == pytest.approx(2 * 0.25 / N, rel=5 * math.sqrt(2 / 20_000))


def test_a_gradient_beyond_the_clip_moves_the_chain_by_the_clip() -> None:
    algorithm = build(gaussian(CLIP, 1e-3), 1, expected_batch=1)
    state = algorithm.init(jax.random.key(0), {"x": jnp.array([1e6])})
    after, _ = algorithm.step(jax.random.key(1), state, {"x": jnp.array([1e6])})
    h = li2019_step_size(gaussian(CLIP, 1e-3).event, 1, expected_batch=1, clip=CLIP)
    assert float(after.parameters[0]) == pytest.approx(h * CLIP, rel=0.01)


def test_it_states_its_sampler_and_noise() -> None:
    for sampler, kind in (("subset", SubsetGaussian), ("poisson", PoissonGaussian)):
        algorithm = build(gaussian(CLIP, 2.0), sampler=sampler, expected_batch=5)
        assert algorithm.event(9) == Repeat(event=kind(noise_multiplier=2.0, sampling_rate=0.1), count=9)


def test_a_step_size_is_for_runs_without_privacy_alone() -> None:
    stated: dict[str, Any] = {
        "data": Data(), "model": TwoModes(), "num_steps": 10, "delta": 1e-6, "expected_batch": N, "clip": CLIP,
    }  # fmt: skip
    for changes in ({"step_size": 1.0, "noise_multiplier": 1.0}, {"epsilon": math.inf}):
        with pytest.raises(ValueError, match="step_size should be given for a run without privacy"):
            Langevin(**{**stated, **changes})
    with pytest.raises(InputError, match="step_size should be given for a run without privacy"):
        build(exact())
