"""One contract for every algorithm; it goes through the settings, so that none escapes."""

import typing
from typing import Any

import jax
import numpy as np
import pytest

from dpinfer.accounting.ledger import Ledger
from dpinfer.inference.base import Algorithm
from dpinfer.inference.correction import Correction
from pipeline import experiment
from pipeline.derived import given_noise
from pipeline.experiment import Given
from pipeline.settings.data import Abalone
from pipeline.settings.method import Method
from pipeline.settings.model import GanModel, Logistic

METHODS: list[Any] = list(typing.get_args(typing.get_args(Method)[0]))
# What a method needs beside data, model and privacy.
EXAMPLES: dict[str, dict[str, Any]] = {
    "descent": {"learning_rate": 0.1, "clip": 1.0},
    "dpvi": {"expected_batch": 5, "clip": 1.0},
    "dpsgd": {"expected_batch": 5, "clip": 1.0},
    "gan": {"expected_batch": 5, "clip": 1.0, "model": GanModel(image=(3,), latent=2, generator=(4, 5))},
    "sgld": {"expected_batch": 5, "clip": 1.0, "step_size": 1e-3, "samples": 2},
    "barker": {"batch": 10, "proposal_variance": 0.1, "adjacency": "replace-one"},
    "full_barker": {"proposal_variance": 0.1},
    "langevin": {"expected_batch": 5, "clip": 1.0},
    "pvi_records": {"expected_batch": 5, "clip": 1.0, "local_steps": 3},
    "pvi_clients": {"clip": 1.0, "optimum": "gradient", "local_steps": 3},
}
# What it needs in addition where it runs without privacy.
EXACT: dict[str, dict[str, Any]] = {"langevin": {"step_size": 0.1}}
GIVEN = Given(correction=Correction(np.zeros(1), np.ones(1), np.ones(1)))
RECORDS = {"x": jax.random.normal(jax.random.key(0), (20, 3)), "y": jax.numpy.arange(20) % 2}


@pytest.fixture(params=METHODS, ids=lambda method: method.method)
def method(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=[None, 1.0], ids=["exact", "private"])
def noise_multiplier(request: pytest.FixtureRequest) -> float | None:
    value: float | None = request.param
    return value


def build(method: Any, noise_multiplier: float | None) -> Algorithm:
    """The algorithm on 20 records, private where there is noise."""
    exact = EXACT.get(method.method, {}) if noise_multiplier is None else {}
    settings = method(
        **{
            "data": Abalone(),
            "model": Logistic(),
            "num_steps": 4,
            "delta": 1e-5,
            "epsilon": 1.0 if noise_multiplier else float("inf"),
            **EXAMPLES[method.method],
            **exact,
        }
    )
    # Some settings fix the noise.
    return experiment.build(settings, 20, given_noise(settings) or noise_multiplier, GIVEN)


def test_a_step_keeps_the_shape_of_the_state_and_stays_finite(method: Any, noise_multiplier: float | None) -> None:
    algorithm = build(method, noise_multiplier)
    state = algorithm.init(jax.random.key(1), RECORDS)
    after, _ = jax.jit(algorithm.step)(jax.random.key(2), state, RECORDS)
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), after) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), state
    )
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(after))


def test_the_same_keys_give_the_same_draw(method: Any, noise_multiplier: float | None) -> None:
    algorithm = build(method, noise_multiplier)

    def draw() -> Any:
        state = algorithm.init(jax.random.key(1), RECORDS)
        state, _ = algorithm.step(jax.random.key(2), state, RECORDS)
        return algorithm.draw(jax.random.key(3), state)

    jax.tree.map(np.testing.assert_array_equal, draw(), draw())


def test_privacy_costs_more_with_more_steps_and_nothing_private_is_free(method: Any) -> None:
    adjacency = EXAMPLES[method.method].get("adjacency", "add-remove")

    def epsilon(noise_multiplier: float | None, num_steps: int) -> float:
        event = build(method, noise_multiplier).event(num_steps)
        return Ledger(adjacency=adjacency, delta=1e-5).spend(event, "run").sound().upper

    assert 0 < epsilon(3.0, 1) < epsilon(3.0, 10) < float("inf")
    assert epsilon(None, 1) == float("inf")
