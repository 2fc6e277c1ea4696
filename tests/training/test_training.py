"""Private optimisers in loops of one's own: their noise, their account, their budget, and the worked example."""

import importlib.util
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from dpinfer.accounting import accountant, calibrate
from dpinfer.accounting.events import PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.errors import InputError
from dpinfer.training import Batch, Loader, Optimiser, dpadagrad, dpadam, dprmsprop, dpsgd, private
from dpinfer.types import Tree

RECORDS, BATCH = 200, 20
SETTINGS: dict[str, Any] = {
    "num_records": RECORDS, "expected_batch": BATCH, "clip": 0.5, "noise_multiplier": 1.3, "delta": 1e-5,
}  # fmt: skip
X = jax.random.normal(jax.random.key(0), (RECORDS, 3))
EXAMPLE = Path(__file__).parents[2] / "examples/private_loop.py"


def loss(parameters: Tree, record: Tree) -> jax.Array:
    (x,) = record
    return parameters @ x


def nothing(parameters: Tree, record: Tree) -> jax.Array:
    return 0.0 * (parameters.sum() + record[0].sum())


def one_step(optimiser: Optimiser, parameters: Tree, seed: int = 1) -> Tree:
    batch, _ = next(iter(Loader(optimiser, (X,), jax.random.key(seed))))
    return optimiser.step(optimiser.init(parameters, jax.random.key(seed)), batch).parameters


def test_the_noise_has_the_scale_of_the_account_and_no_other() -> None:
    """Where no record has a gradient, a step is its noise: over the expected batch, clip times multiplier."""
    moved = np.asarray(one_step(dpsgd(nothing, 1.0, **SETTINGS), jnp.zeros(20_000)), np.float64)
    scale = 1.3 * 0.5 / BATCH
    assert stats.kstest(moved / scale, "norm").pvalue > 1e-3
    assert stats.kstest(moved / (1.05 * scale), "norm").pvalue < 1e-3


@pytest.mark.parametrize("clip", [0.5, 100.0])
def test_each_gradient_is_clipped_before_it_is_added(clip: float) -> None:
    optimiser = dpsgd(loss, 1.0, **SETTINGS | {"clip": clip, "noise_multiplier": 1e-6})
    batch, _ = next(iter(Loader(optimiser, (X,), jax.random.key(1))))
    rows = np.asarray(batch.records[0])[np.asarray(batch.mask)]
    clipped = rows * np.minimum(1, clip / np.linalg.norm(rows, axis=1))[:, None]
    moved = optimiser.step(optimiser.init(jnp.zeros(3), jax.random.key(1)), batch).parameters
    np.testing.assert_allclose(moved, -clipped.sum(0) / BATCH, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("ready", "plain"),
    [(dpsgd, optax.sgd), (dpadam, optax.adam), (dpadagrad, optax.adagrad), (dprmsprop, optax.rmsprop)],
)
def test_ready_made_ones_are_those_of_optax(ready: Any, plain: Any) -> None:
    both = ready(loss, 0.1, **SETTINGS), private(plain(0.1), loss, **SETTINGS)
    moved = [one_step(made, jnp.ones(3)) for made in both]
    np.testing.assert_array_equal(*moved)
    gradient = (1.0 - one_step(dpsgd(loss, 1.0, **SETTINGS), jnp.ones(3))).astype(jnp.float32)
    change, _ = plain(0.1).update(gradient, plain(0.1).init(jnp.ones(3)), jnp.ones(3))
    np.testing.assert_allclose(moved[0], 1.0 + change, rtol=1e-4, atol=1e-5)


def test_a_step_taken_twice_from_one_state_has_noise_of_its_own() -> None:
    optimiser = dpsgd(nothing, 1.0, **SETTINGS)
    batch, _ = next(iter(Loader(optimiser, (X,), jax.random.key(1))))
    start = optimiser.init(jnp.zeros(3), jax.random.key(1))
    first, second = (np.asarray(optimiser.step(start, batch).parameters) for _ in range(2))
    assert not np.isclose(first, second).any()


@pytest.mark.parametrize(("sampler", "kind"), [("poisson", PoissonGaussian), ("subset", SubsetGaussian)])
def test_every_batch_comes_with_what_its_step_brings_the_total_to(sampler: Any, kind: Any) -> None:
    optimiser = dpsgd(loss, 0.1, sampler=sampler, **SETTINGS)
    event = kind(noise_multiplier=1.3, sampling_rate=BATCH / RECORDS)
    loader = Loader(optimiser, (X,), jax.random.key(1))
    state = optimiser.init(jnp.zeros(3), jax.random.key(2))
    assert len(loader) == 10
    for number, (batch, epsilon) in enumerate(loader, start=1):
        expected = accountant("rdp").epsilon(Repeat(event=event, count=number), 1e-5, "add-remove").upper
        assert epsilon == pytest.approx(expected)
        state = optimiser.step(state, batch)
        assert optimiser.accountant.epsilon() == epsilon
    assert optimiser.accountant.ledger().sound().upper <= optimiser.accountant.epsilon()


def test_batches_without_a_step_cost_nothing() -> None:
    optimiser = dpsgd(loss, 0.1, **SETTINGS)
    assert len({epsilon for _, epsilon in Loader(optimiser, (X,), jax.random.key(1))}) == 1
    assert optimiser.accountant.steps == 0
    assert optimiser.accountant.epsilon() == 0


def test_batches_are_new_in_every_epoch_and_poisson() -> None:
    loader = Loader(dpsgd(loss, 0.1, **SETTINGS), (jnp.arange(RECORDS),), jax.random.key(3))
    drawn = [np.asarray(b.records[0])[np.asarray(b.mask)] for _ in range(40) for b, _ in loader]
    assert len({tuple(rows) for rows in drawn}) == len(drawn)
    sizes = np.array([len(rows) for rows in drawn])
    law = stats.binom(RECORDS, BATCH / RECORDS)
    assert abs(sizes.mean() - law.mean()) < 4 * law.std() / np.sqrt(len(sizes))
    assert 0.75 < sizes.var() / law.var() < 1.3
    assert all(len(set(rows)) == len(rows) for rows in drawn)


def test_the_budget_ends_an_epoch_at_the_last_step_that_it_allows() -> None:
    optimiser = dpsgd(loss, 0.1, budget=2.0, **SETTINGS)
    event = PoissonGaussian(noise_multiplier=1.3, sampling_rate=BATCH / RECORDS)
    allowed = calibrate.num_steps(2.0, 1e-5, lambda count: Repeat(event=event, count=count), "add-remove", "rdp")
    loader = Loader(optimiser, (X,), jax.random.key(1))
    state = optimiser.init(jnp.zeros(3), jax.random.key(2))
    batch = Batch((X[:1],), jnp.ones(1, bool))
    for _ in range(allowed // 10 + 2):
        for batch, _ in loader:
            state = optimiser.step(state, batch)
    assert optimiser.accountant.steps == allowed
    with pytest.raises(InputError, match=r"the next step would bring epsilon to 2\.\d+, beyond the budget 2"):
        optimiser.step(state, batch)
    assert optimiser.accountant.steps == allowed


def test_what_cannot_be_is_refused_before_any_step() -> None:
    with pytest.raises(InputError, match="the data have 7 records, but the optimiser was made for 200"):
        Loader(dpsgd(loss, 0.1, **SETTINGS), (X[:7],), jax.random.key(0))
    with pytest.raises(InputError, match="the budget is -1, but should be positive"):
        dpsgd(loss, 0.1, budget=-1, **SETTINGS)
    with pytest.raises(InputError, match="delta"):
        dpsgd(loss, 0.1, **SETTINGS | {"delta": 2.0})


def test_the_example_learns_until_its_threshold() -> None:
    specification = importlib.util.spec_from_file_location("private_loop", EXAMPLE)
    assert specification is not None
    assert specification.loader is not None
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    accuracy, epsilon = example.main()
    assert accuracy > 0.9
    assert 2.9 < epsilon <= 3
