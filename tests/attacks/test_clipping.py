"""Attacks on clipping: records whose gradient would stay longer than the clip, or would stop a run."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from numpyro.infer import Trace_ELBO
from numpyro.optim import Adam

from dpinfer.clipping import clipped_grad, sums
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.mechanism.grid import on_grid
from dpinfer.svi import DPSVI
from dpinfer.training import Loader, private
from svi import programs as p

POSITIONS, WIDTH, RECORDS = 4, 16, 100
PARAMETERS = {"w": 0.5 * jax.random.normal(jax.random.key(0), (WIDTH, WIDTH)), "b": jnp.zeros(WIDTH)}


def linear(parameters: Any, record: Any) -> jax.Array:
    return ((record["x"] @ parameters["w"] + parameters["b"]) * record["g"]).sum()


@pytest.fixture(autouse=True)
def _by_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few the parameters are."""
    monkeypatch.setattr(sums, "FEW", 0)


def nearly_cancelling(size: float) -> dict[str, jax.Array]:
    """Records at whose positions large features and opposite signals nearly cancel."""
    keys = jax.random.split(jax.random.key(1), 3)
    x = size * jax.random.normal(keys[0], (RECORDS, POSITIONS // 2, WIDTH))
    g = jax.random.normal(keys[1], (RECORDS, POSITIONS // 2, WIDTH))
    other = x * (1 + 1e-6 * jax.random.normal(keys[2], x.shape))
    return {"x": jnp.concatenate([x, other], 1), "g": jnp.concatenate([g, -g], 1)}


@pytest.mark.parametrize("size", [10.0, 1e2, 1e3, 1e4])
def test_gradients_that_nearly_cancel_are_not_left_longer_than_the_clip(size: float) -> None:
    @jax.jit
    def clipped(record: Any) -> jax.Array:
        one = jax.tree.map(lambda leaf: leaf[None], record)
        return optax.tree.norm(clipped_grad(linear, 1.0)(PARAMETERS, one))

    norms = np.asarray(jax.lax.map(clipped, nearly_cancelling(size)))
    assert np.isfinite(norms).all()
    assert norms.max() <= 1 + 1e-5


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 3e38])
def test_a_record_whose_gradient_is_not_finite_counts_nothing(bad: float) -> None:
    def loss(at: jax.Array, record: jax.Array) -> jax.Array:
        return jnp.square(record @ at).sum() + record @ at

    records = jax.random.normal(jax.random.key(0), (9, 3))
    spoilt, at = records.at[4].set(bad), jnp.ones(3)
    everyone = jnp.ones(9, bool)
    without = clipped_grad(loss, 1.0)(at, records, everyone.at[4].set(False))
    np.testing.assert_array_equal(clipped_grad(loss, 1.0)(at, spoilt), without)
    for mechanism in (gaussian(1.0, 2.0), on_grid(1.0, 2.0, 9)):
        noise = mechanism.random(jax.random.key(2), at)
        assert np.isfinite(mechanism.release(noise, loss, at, spoilt, everyone)).all()


def test_a_record_that_is_not_finite_counts_nothing_in_products() -> None:
    records = nearly_cancelling(1.0)
    spoilt = {**records, "x": records["x"].at[7].set(jnp.nan)}
    mask = jnp.ones(RECORDS, bool)
    found = clipped_grad(linear, 1.0)(PARAMETERS, spoilt)
    expected = clipped_grad(linear, 1.0)(PARAMETERS, records, mask.at[7].set(False))
    jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_no_record_can_stop_a_run_or_show_in_which_step_it_was_drawn() -> None:
    """It would differ from a run without that record with near certainty, whatever epsilon is stated."""
    xs = p.XS.at[5].set(jnp.nan)
    svi = DPSVI(p.simple, p.simple_guide, Adam(0.02), Trace_ELBO(), 1.0, 1.0, expected_batch=20, N=p.N)
    result = svi.run(jax.random.key(2), 50, xs, p.YS, progress_bar=False)
    assert all(np.isfinite(value).all() for value in result.params.values())
    optimiser = private(
        optax.adam(0.1), lambda w, record: jnp.square(record @ w - 1.0), num_records=p.N, expected_batch=20,
        clip=1.0, noise_multiplier=1.0, delta=1e-4,
    )  # fmt: skip
    state, loader = optimiser.init(jnp.zeros(p.D), jax.random.key(0)), Loader(optimiser, xs)
    for _ in range(20):
        state = optimiser.step(state, loader.batch(state))
    assert np.isfinite(state.parameters).all()
