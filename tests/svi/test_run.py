"""Whole runs: what they learn, spend, keep and refuse."""

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from numpyro.infer import SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from numpyro.optim import Adam

from dpinfer.errors import InputError
from dpinfer.inference.run import keys_for, run_seeds
from dpinfer.svi import DPSVI
from svi import programs as p

KEY = jax.random.key(2)


def private(**options: Any) -> DPSVI:
    chosen = {"expected_batch": 20, "dp_scale": 0.5, "clipping_threshold": 2.0, **options}
    return DPSVI(p.simple, p.simple_guide, Adam(0.02), Trace_ELBO(), N=p.N, **chosen)


@pytest.mark.parametrize("sampler", ["poisson", "subset"])
def test_a_run_learns_and_is_the_same_for_the_same_key(sampler: Any) -> None:
    runs = [private(sampler=sampler).run(KEY, 400, p.XS, p.YS, progress_bar=False) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].params["w_loc"], runs[1].params["w_loc"])
    weights = runs[0].params["w_loc"]
    assert runs[0].losses.shape == (400,)
    assert runs[0].losses[-50:].mean() < 0.7 * runs[0].losses[:20].mean()
    assert weights[0] > 0.5
    assert weights[1] < -1


def test_a_run_goes_on_where_another_ended_with_other_noise() -> None:
    svi = private()
    first = svi.run(KEY, 50, p.XS, p.YS, progress_bar=False)
    second = svi.run(KEY, 50, p.XS, p.YS, progress_bar=False, init_state=first.state)
    assert int(second.state.optim_state[0]) == 100
    steps = [np.asarray(result.params["w_loc"]) for result in (first, second)]
    assert not np.allclose(steps[1] - steps[0], steps[0], atol=1e-3)
    keys = [jax.random.key_data(result.state.rng_key) for result in (first, second)]
    assert not np.array_equal(keys[0], keys[1])


def test_models_that_subsample_or_have_a_plate_of_the_batch_run() -> None:
    own = DPSVI(p.subsampling, AutoNormal(p.subsampling), optax.adam(0.02), Trace_ELBO(), 2.0, 0.2,
                expected_batch=20)  # fmt: skip
    weights = own.run(KEY, 400, p.XS, p.YS, progress_bar=False).params["w_auto_loc"]
    assert weights[0] > 0.5
    assert weights[1] < -1
    nested = DPSVI(p.nested, AutoNormal(p.nested), Adam(0.02), Trace_ELBO(), 5.0, 0.1, expected_batch=20)
    learned = nested.run(KEY, 600, p.XS + 1, progress_bar=False).params["mean_auto_loc"]
    np.testing.assert_allclose(learned, (p.XS + 1).mean(0), atol=0.25)


def test_latents_that_the_guide_computes_from_records_are_learned() -> None:
    truth = jnp.array([1.0, -1.0, 2.0])
    z, noise = jax.random.normal(KEY, (p.N, 1)), jax.random.normal(jax.random.key(3), (p.N, 3))
    xs = z * truth + 0.5 * noise
    svi = DPSVI(p.amortised, p.amortised_guide, Adam(0.02), Trace_ELBO(), 20.0, 0.02, expected_batch=30, N=p.N)
    direction = svi.run(KEY, 800, xs, progress_bar=False).params["direction"]
    cosine = jnp.abs(direction @ truth) / jnp.linalg.norm(direction) / jnp.linalg.norm(truth)
    assert cosine > 0.95


def test_predictive_works_on_the_result() -> None:
    result = private().run(KEY, 300, p.XS, p.YS, progress_bar=False)
    predictive = Predictive(p.simple, guide=p.simple_guide, params=result.params, num_samples=200)
    drawn = predictive(jax.random.key(4), p.XS, None, p.N)["ys"]
    assert drawn.shape == (200, p.N)
    assert ((drawn.mean(0) > 0.5) == p.YS).mean() > 0.85


def test_a_calibrated_object_spends_its_budget_and_no_more() -> None:
    svi = DPSVI.calibrated(
        p.simple, p.simple_guide, Adam(0.02), Trace_ELBO(), epsilon=1.5, delta=1e-4,
        num_records=p.N, num_steps=60, expected_batch=20, N=p.N,
    )  # fmt: skip
    assert 1.4 < svi.get_epsilon(1e-4, 20 / p.N, num_iter=60) <= 1.5
    result = svi.run(KEY, 60, p.XS, p.YS, progress_bar=False)
    with pytest.raises(InputError, match="61 steps would exceed the 60 that have been paid for"):
        svi.run(KEY, 1, p.XS, p.YS, progress_bar=False, init_state=result.state)
    with pytest.raises(InputError, match="61 steps would exceed"):
        svi.update(result.state, p.XS[:20], p.YS[:20], mask=jnp.ones(20, bool))


def test_the_bar_of_a_calibrated_run_tells_what_all_steps_have_cost(capfd: pytest.CaptureFixture[str]) -> None:
    svi = DPSVI.calibrated(
        p.simple, p.simple_guide, Adam(0.02), Trace_ELBO(), epsilon=1, delta=1e-5, num_records=p.N, num_steps=200,
        expected_batch=20, N=p.N,
    )  # fmt: skip

    def told() -> float:
        return float(re.findall(r"epsilon <= ([\d.]+)", capfd.readouterr().err)[-1])

    half = svi.run(KEY, 100, p.XS, p.YS)
    assert told() == pytest.approx(svi.get_epsilon(1e-5, 20 / p.N, num_iter=100), rel=0.01)
    svi.run(KEY, 100, p.XS, p.YS, init_state=half.state)
    assert told() == pytest.approx(svi.get_epsilon(1e-5, 20 / p.N, num_iter=200), rel=0.01)
    private().run(KEY, 10, p.XS, p.YS)
    assert "epsilon" not in capfd.readouterr().err


def test_many_seeds_run_in_one_program() -> None:
    svi = private()
    algorithm = svi.algorithm(svi.init(KEY, p.XS, p.YS), 40, p.XS, p.YS)
    records: Any = {"args": (p.XS, p.YS)}
    states = run_seeds(algorithm, keys_for(KEY, 3), records, 40).state
    locations = svi.optim.get_params(states)["w_loc"]
    assert locations.shape == (3, 3)
    assert len(np.unique(locations[:, 0])) == 3
    one = algorithm.draw(KEY, jax.tree.map(lambda leaf: leaf[0], states))
    assert one["w"].shape == (3,)


def test_evaluate_is_the_loss_of_numpyro() -> None:
    svi = private()
    state = svi.init(KEY, p.XS, p.YS)
    plain = SVI(p.simple, p.simple_guide, Adam(0.02), Trace_ELBO(), N=p.N)
    plain.init(KEY, p.XS, p.YS)
    assert svi.evaluate(state, p.XS[:9], p.YS[:9]) == plain.evaluate(state, p.XS[:9], p.YS[:9])
