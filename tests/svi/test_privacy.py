"""What one record can do to a step, and what the noise does."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro import handlers
from numpyro.infer import Trace_ELBO
from numpyro.optim import SGD
from scipy.stats import kstest

from dpinfer.accounting.events import CUT, PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.accounting.sound import pld
from dpinfer.svi import DPSVI
from svi import programs as p

CLIP = 0.7
KEY = jax.random.key(9)


def moved(svi: DPSVI, *batch: Any, key: Any = KEY, **options: Any) -> np.ndarray:
    """By how much one step of plain descent with rate 1 moves the parameters."""
    state = svi.init(key, *batch)
    before = svi.get_params(state)
    after = svi.get_params(svi.update(state, *batch, **options)[0])
    return np.concatenate([np.ravel(after[name] - before[name]) for name in sorted(before)])


def descent(clip: float, noise: float, rate: float = 1.0, **options: Any) -> DPSVI:
    return DPSVI(p.simple, p.simple_guide, SGD(rate), Trace_ELBO(), clip, noise, N=p.N, **options)


def test_a_record_moves_a_sum_by_one_clip_in_units_of_its_own_likelihood() -> None:
    free, clipped = (moved(descent(clip, 0.0), p.XS[:1], p.YS[:1]) for clip in (math.inf, 0.01))
    # The optimiser sees N / B times the sum; B is 1.
    assert np.linalg.norm(free) > p.N * 0.02
    assert math.isclose(np.linalg.norm(clipped), p.N * 0.01, rel_tol=1e-4)
    np.testing.assert_allclose(clipped / np.linalg.norm(clipped), free / np.linalg.norm(free), rtol=1e-4)


def test_a_model_weighed_down_by_its_user_is_clipped_in_the_same_units() -> None:
    model = handlers.scale(p.simple, 1 / p.N)
    guide = handlers.scale(p.simple_guide, 1 / p.N)
    light = DPSVI(model, guide, SGD(1.0), Trace_ELBO(), CLIP, 0.0, N=p.N)
    np.testing.assert_allclose(
        moved(light, p.XS[:8], p.YS[:8]), moved(descent(CLIP, 0.0), p.XS[:8], p.YS[:8]) / p.N, rtol=1e-4, atol=1e-7
    )


def test_padding_counts_nothing_and_the_divisor_is_the_expected_batch() -> None:
    mask = jnp.arange(10) < 4
    others = p.XS.at[4:].set(jnp.nan)[:10], p.YS[:10]
    svi = descent(CLIP, 0.0, expected_batch=5.0, shared_draw=True)
    state = svi.init(KEY, p.XS[:10], p.YS[:10])
    before = svi.get_params(state)["w_loc"]
    padded = svi.get_params(svi.update(state, *others, mask=mask)[0])["w_loc"] - before
    four = moved(descent(CLIP, 0.0, shared_draw=True), p.XS[:4], p.YS[:4])[:3]
    np.testing.assert_allclose(padded, four * 4 / 5, rtol=1e-4)


def test_noise_has_the_scale_that_was_asked_for() -> None:
    batch = p.XS[:6], p.YS[:6]

    def moves(noise_multiplier: float) -> np.ndarray:
        svi = descent(CLIP, noise_multiplier)
        state = svi.init(KEY, *batch)
        keys = jax.random.split(KEY, 400)
        after = jax.vmap(lambda key: svi.update(state._replace(rng_key=key), *batch)[0])(keys)
        return np.asarray(svi.optim.get_params(after.optim_state)["w_loc"])

    noise = (moves(3.0) - moves(0.0)).ravel() / (3.0 * CLIP * p.N / 6)
    assert kstest(noise, "norm").pvalue > 1e-3
    for factor in (2 / 3, 3 / 2):
        assert kstest(factor * noise, "norm").pvalue < 1e-6


def test_steps_have_noise_of_their_own() -> None:
    svi = descent(CLIP, 3.0, rate=1e-4)
    state = svi.init(KEY, p.XS[:6], p.YS[:6])
    seen = [svi.get_params(state)["w_loc"]]
    for _ in range(3):
        state, _ = svi.update(state, p.XS[:6], p.YS[:6])
        seen.append(svi.get_params(state)["w_loc"])
    steps = np.diff(np.array(seen), axis=0)
    assert len(np.unique(steps)) == steps.size


@pytest.mark.parametrize("sampler", ["poisson", "subset"])
def test_the_event_is_that_of_the_sampler(sampler: Any) -> None:
    svi = descent(1.0, 2.0, expected_batch=12, sampler=sampler)
    state = svi.init(KEY, p.XS, p.YS)
    kind = PoissonGaussian if sampler == "poisson" else SubsetGaussian
    expected = Repeat(event=kind(noise_multiplier=2.0, sampling_rate=0.1), count=50)
    assert svi.algorithm(state, 50, p.XS, p.YS).event(50) == expected


def test_epsilon_is_that_of_the_accountant() -> None:
    svi = descent(1.0, 2.0)
    for sampler, kind, cut in (("poisson", PoissonGaussian, CUT), ("subset", SubsetGaussian, 0.0)):
        event = Repeat(event=kind(noise_multiplier=2.0, sampling_rate=0.1), count=50)
        expected = pld.epsilon(event, 1e-4 - cut, "replace-one").upper
        arguments: Any = {"sampler": sampler, "adjacency": "replace-one"}
        assert svi.get_epsilon(1e-4, 0.1, num_iter=50, **arguments) == expected
        assert svi.get_epsilon(1e-4, 0.1, num_epochs=5, **arguments) == expected
    assert descent(1.0, 0.0).get_epsilon(1e-4, 0.1, num_iter=50) == math.inf


def test_epsilon_is_by_default_sound_for_batches_of_fixed_size() -> None:
    unknown, stated = descent(1.0, 2.0), descent(1.0, 2.0, expected_batch=12)
    arguments: Any = {"target_delta": 1e-4, "q": 0.1, "num_iter": 50}
    assert unknown.get_epsilon(**arguments) == unknown.get_epsilon(**arguments, sampler="subset")
    assert stated.get_epsilon(**arguments) == unknown.get_epsilon(**arguments, sampler="poisson")
