"""Private optimisers in loops of one's own: their noise, their batches, their account, and the worked example."""

import importlib.util
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from dpinfer.accounting import accountant
from dpinfer.accounting.events import CUT, PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.training import Loader, Optimiser, dpadagrad, dpadam, dprmsprop, dpsgd, private
from dpinfer.types import Tree
from loops import BATCH, RECORDS, SETTINGS, X, nothing, run, step

EXAMPLE = Path(__file__).parents[2] / "examples/private_loop.py"


def linear(parameters: Tree, record: Tree) -> jax.Array:
    (x,) = record
    return parameters @ x


def one_step(optimiser: Optimiser, parameters: Tree) -> Tree:
    return step(optimiser, optimiser.init(parameters, jax.random.key(1))).parameters


def test_the_noise_has_the_scale_of_the_account_and_no_other() -> None:
    """Where no record has a gradient, a step is its noise: over the expected batch, clip times multiplier."""
    moved = np.asarray(one_step(dpsgd(nothing, 1.0, **SETTINGS), jnp.zeros(20_000)), np.float64)
    scale = 1.3 * 0.5 / BATCH
    assert stats.kstest(moved / scale, "norm").pvalue > 1e-3
    assert stats.kstest(moved / (1.05 * scale), "norm").pvalue < 1e-3


@pytest.mark.parametrize("clip", [0.5, 100.0])
def test_each_gradient_is_clipped_before_it_is_added(clip: float) -> None:
    optimiser = dpsgd(linear, 1.0, **SETTINGS | {"clip": clip, "noise_multiplier": 1e-6})
    state = optimiser.init(jnp.zeros(3), jax.random.key(1))
    batch = Loader(optimiser, (X,)).batch(state)
    rows = np.asarray(batch.records[0])[np.asarray(batch.mask)]
    clipped = rows * np.minimum(1, clip / np.linalg.norm(rows, axis=1))[:, None]
    moved = optimiser.step(state, batch).parameters
    np.testing.assert_allclose(moved, -clipped.sum(0) / BATCH, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("ready", "plain"),
    [(dpsgd, optax.sgd), (dpadam, optax.adam), (dpadagrad, optax.adagrad), (dprmsprop, optax.rmsprop)],
)
def test_ready_made_ones_are_those_of_optax(ready: Any, plain: Any) -> None:
    both = ready(linear, 0.1, **SETTINGS), private(plain(0.1), linear, **SETTINGS)
    moved = [one_step(made, jnp.ones(3)) for made in both]
    np.testing.assert_array_equal(*moved)
    gradient = (1.0 - one_step(dpsgd(linear, 1.0, **SETTINGS), jnp.ones(3))).astype(jnp.float32)
    change, _ = plain(0.1).update(gradient, plain(0.1).init(jnp.ones(3)), jnp.ones(3))
    np.testing.assert_allclose(moved[0], 1.0 + change, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("sampler", "kind"), [("poisson", PoissonGaussian), ("subset", SubsetGaussian)])
def test_epsilon_is_that_of_the_steps_taken_and_of_those_ahead(sampler: Any, kind: Any) -> None:
    optimiser = dpsgd(linear, 0.1, sampler=sampler, **SETTINGS)
    loader = Loader(optimiser, (X,))
    state = optimiser.init(jnp.zeros(3), jax.random.key(2))
    assert len(loader) == 10
    assert optimiser.epsilon(state) == 0
    event = kind(noise_multiplier=1.3, sampling_rate=BATCH / RECORDS)
    delta = 1e-5 - CUT * (sampler == "poisson")
    for number in range(1, 4):
        ahead = optimiser.epsilon(state, ahead=1)
        state = step(optimiser, state, loader)
        expected = accountant("rdp").epsilon(Repeat(event=event, count=number), delta, "add-remove").upper
        assert optimiser.epsilon(state) == ahead == pytest.approx(expected)
    ledger = optimiser.ledger(state)
    assert ledger.event == optimiser.ledger(state).event
    assert 0 < ledger.sound().upper <= optimiser.epsilon(state)


def test_batches_are_new_in_every_epoch_and_poisson() -> None:
    optimiser = dpsgd(nothing, 0.1, **SETTINGS)
    state = optimiser.init(jnp.zeros(3), jax.random.key(3))
    drawn = []
    for _ in range(40):
        # A loader is made anew in every epoch, as in a loop that repeated its batches once.
        loader = Loader(optimiser, (np.arange(RECORDS),))
        for _ in range(len(loader)):
            batch = loader.batch(state)
            drawn.append(np.asarray(batch.records[0])[np.asarray(batch.mask)])
            state = optimiser.step(state, batch)
    assert len({tuple(rows) for rows in drawn}) == len(drawn)
    sizes = np.array([len(rows) for rows in drawn])
    law = stats.binom(RECORDS, BATCH / RECORDS)
    assert abs(sizes.mean() - law.mean()) < 4 * law.std() / np.sqrt(len(sizes))
    assert 0.75 < sizes.var() / law.var() < 1.3
    assert all(len(set(rows)) == len(rows) for rows in drawn)


def test_drawing_a_batch_without_a_step_costs_nothing_and_gives_the_same_again() -> None:
    optimiser = dpsgd(linear, 0.1, **SETTINGS)
    state = optimiser.init(jnp.zeros(3), jax.random.key(3))
    one, other = (Loader(optimiser, (X,)).batch(state) for _ in range(2))
    jax.tree.map(np.testing.assert_array_equal, one, other)
    assert optimiser.epsilon(state) == 0


def test_records_of_numpy_and_jax_give_the_same_batches() -> None:
    optimiser = dpsgd(linear, 0.1, **SETTINGS)
    state = optimiser.init(jnp.zeros(3), jax.random.key(3))
    records = {"x": X, "y": np.arange(RECORDS)}
    host, device = (Loader(optimiser, own).batch(state) for own in (records, jax.tree.map(jnp.asarray, records)))
    jax.tree.map(np.testing.assert_array_equal, host, device)
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(host))


def test_training_learns_what_it_should() -> None:
    def square(parameters: Tree, record: Tree) -> jax.Array:
        return jnp.square(parameters - record[0]).sum() / 2

    optimiser = dpsgd(square, 0.3, **SETTINGS | {"clip": 2.0, "noise_multiplier": 0.5})
    state = run(optimiser, optimiser.init(jnp.full(3, 2.0), jax.random.key(0)), 60)
    assert np.abs(np.asarray(state.parameters) - X.mean(0)).max() < 0.3


def test_the_example_learns_until_its_threshold() -> None:
    specification = importlib.util.spec_from_file_location("private_loop", EXAMPLE)
    assert specification is not None
    assert specification.loader is not None
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    accuracy, epsilon = example.main()
    assert accuracy > 0.9
    assert 2.9 < epsilon <= 3
