"""Ways to spend more than was stated: each is refused, or releases nothing where nobody can be stopped."""

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro.infer import Trace_ELBO
from numpyro.optim import SGD, Adam

from dpinfer.accounting.budget import Budget
from dpinfer.accounting.ledger import BudgetExceededError
from dpinfer.errors import InputError
from dpinfer.inference.run import keys_for, run_seeds
from dpinfer.svi import DPSVI, poisson_batchify_data
from dpinfer.svi.charge import DPSVIState
from inference import shards
from svi import programs as p

KEY = jax.random.key(2)
STEPS, BATCH = 10, 20
Q = BATCH / p.N


def calibrated(optim: Any = None, **options: Any) -> DPSVI:
    chosen = {"epsilon": 1.0, "delta": 1e-4, "sampler": "poisson", "expected_batch": BATCH, **options}
    return DPSVI.calibrated(
        p.simple,
        p.simple_guide,
        optim or Adam(0.02),
        Trace_ELBO(),
        num_records=p.N,
        num_steps=STEPS,
        N=p.N,
        **chosen,
    )


def batch_of(number: int) -> tuple[Any, jax.Array]:
    init, get_batch = poisson_batchify_data((p.XS, p.YS), Q, STEPS)
    return get_batch(number, init(jax.random.key(8))[1])


def moved(one: DPSVIState, other: DPSVIState) -> bool:
    return any(
        not np.array_equal(a, b)
        for a, b in zip(jax.tree.leaves(one.optim_state), jax.tree.leaves(other.optim_state), strict=True)
    )


def test_two_whole_runs() -> None:
    svi = calibrated()
    svi.run(KEY, STEPS, p.XS, p.YS, progress_bar=False)
    assert svi.budget is not None
    assert 0.99 < svi.budget.spent <= 1.0
    with pytest.raises(BudgetExceededError, match="the budget is 1"):
        svi.run(jax.random.key(3), STEPS, p.XS, p.YS, progress_bar=False)
    with pytest.raises(BudgetExceededError):
        svi.init(KEY, p.XS, p.YS)


def test_two_halves_are_one_run_and_no_third() -> None:
    svi = calibrated()
    half = svi.run(KEY, STEPS // 2, p.XS, p.YS, progress_bar=False)
    whole = svi.run(KEY, STEPS // 2, p.XS, p.YS, progress_bar=False, init_state=half.state)
    assert int(whole.state.optim_state[0]) == STEPS
    with pytest.raises(BudgetExceededError):
        svi.run(KEY, 1, p.XS, p.YS, progress_bar=False, init_state=whole.state)


@pytest.mark.parametrize("count", [STEPS - 3, STEPS, 500])
def test_many_updates_in_a_loop_of_jax(count: int) -> None:
    svi = calibrated()
    state = svi.init(KEY, p.XS, p.YS)
    init, get_batch = poisson_batchify_data((p.XS, p.YS), Q, count)
    batches = init(KEY)[1]

    def body(number: int, state: DPSVIState) -> DPSVIState:
        records, mask = get_batch(number, batches)
        return svi.update(state, *records, mask=mask)[0]

    after = jax.lax.fori_loop(0, count, body, state)
    assert int(after.optim_state[0]) == min(count, STEPS)


def test_many_updates_that_are_compiled() -> None:
    svi = calibrated(SGD(0.1))
    update = jax.jit(lambda state, records, mask: svi.update(state, *records, mask=mask)[0])
    states = [svi.init(KEY, p.XS, p.YS)]
    for number in range(30):
        states.append(update(states[-1], *batch_of(number)))
    assert int(states[-1].optim_state[0]) == STEPS
    assert all(moved(*pair) for pair in pairwise(states[: STEPS + 1]))
    assert not moved(states[STEPS], states[30])
    # Noise is new in every step: it is nearly all of what moves the weights.
    steps = np.diff([svi.get_params(state)["w_loc"] for state in states[: STEPS + 1]], axis=0)
    assert len(np.unique(steps.round(6), axis=0)) == STEPS


def test_all_records_instead_of_the_batches_that_the_noise_is_for() -> None:
    svi = calibrated()
    state = svi.init(KEY, p.XS, p.YS)
    with pytest.raises(InputError, match="pass their mask"):
        svi.update(state, p.XS, p.YS)
    with pytest.raises(InputError, match="holds 120 records, but the noise is for Poisson batches of 20 expected"):
        svi.update(state, p.XS, p.YS, mask=jnp.ones(p.N, bool))
    whole = jax.jit(lambda state, mask: svi.update(state, p.XS, p.YS, mask=mask)[0])(state, jnp.ones(p.N, bool))
    assert not moved(state, whole)
    fixed = calibrated(sampler="subset")
    with pytest.raises(InputError, match="the noise is for batches of 20 records"):
        fixed.update(fixed.init(KEY, p.XS, p.YS), p.XS, p.YS)
    everyone = calibrated(expected_batch=None)
    with pytest.raises(InputError, match="the noise is for batches of 120 records"):
        everyone.update(everyone.init(KEY, p.XS, p.YS), p.XS[:20], p.YS[:20])
    assert moved(state, svi.update(state, *batch_of(0)[0], mask=batch_of(0)[1])[0])


def test_one_state_that_goes_on_in_two_ways() -> None:
    svi = calibrated()
    state = svi.init(KEY, p.XS, p.YS)
    (records, mask), (others, other_mask) = batch_of(0), batch_of(1)
    once = svi.update(state, *records, mask=mask)[0]
    assert not moved(once, svi.update(state, *records, mask=mask)[0])
    with pytest.raises(BudgetExceededError, match="has gone on in another way before"):
        svi.update(state, *others, mask=other_mask)
    compiled = jax.jit(lambda state, records, mask: svi.update(state, *records, mask=mask)[0])
    assert not moved(state, compiled(state, others, other_mask))
    with pytest.raises(BudgetExceededError, match="has gone on in another way before"):
        svi.run(KEY, 3, p.XS, p.YS, progress_bar=False, init_state=state)


def test_without_a_budget_two_ways_from_one_state_have_noise_of_their_own() -> None:
    """Else the difference of both would be that of two clipped sums, without any noise."""
    svi = DPSVI(p.simple, p.simple_guide, SGD(1.0), Trace_ELBO(), 1.0, 1e3, N=p.N)
    state = svi.init(KEY, p.XS, p.YS)
    update = jax.jit(lambda state, xs, ys: svi.update(state, xs, ys)[0])
    ways = [svi.get_params(update(state, p.XS[at : at + 8], p.YS[at : at + 8]))["w_loc"] for at in (0, 8)]
    assert np.abs(ways[0] - ways[1]).min() > 10


def test_a_start_that_is_compiled_cannot_be_charged_for() -> None:
    svi = calibrated()
    with pytest.raises(InputError, match="call it outside of jit"):
        jax.jit(lambda key: svi.init(key, p.XS, p.YS))(KEY)
    with pytest.raises(InputError, match="call it outside of jit"):
        jax.vmap(lambda key: svi.init(key, p.XS, p.YS))(jax.random.split(KEY, 3))
    assert svi.budget is not None
    assert svi.budget.spent == 0


def test_a_stored_state_goes_on_with_new_noise_and_the_steps_that_are_left(tmp_path: Path) -> None:
    """Save-and-go-on equals uninterrupted, bit for bit, account included."""
    path = tmp_path / "budget.json"
    svi = calibrated(epsilon=None, delta=None, budget=Budget(1.0, 1e-4, path=path))
    state = svi.init(KEY, p.XS, p.YS)
    for number in range(5):
        state = svi.update(state, *batch_of(number)[0], mask=batch_of(number)[1])[0]
    stored = pickle.dumps(jax.tree.map(np.asarray, state._replace(rng_key=jax.random.key_data(state.rng_key))))
    whole = state
    for number in range(5, STEPS):
        whole = svi.update(whole, *batch_of(number)[0], mask=batch_of(number)[1])[0]
    later = DPSVI(
        p.simple, p.simple_guide, Adam(0.02), Trace_ELBO(), 1.0, svi.dp_scale, expected_batch=BATCH,
        num_records=p.N, budget=Budget(1.0, 1e-4, path=path), num_steps=STEPS, N=p.N,
    )  # fmt: skip
    with pytest.raises(BudgetExceededError):
        later.init(KEY, p.XS, p.YS)
    restored = pickle.loads(stored)
    going_on = restored._replace(rng_key=jax.random.wrap_key_data(restored.rng_key))
    for number in range(5, STEPS):
        going_on = later.update(going_on, *batch_of(number)[0], mask=batch_of(number)[1])[0]
    assert not moved(whole, going_on)
    with pytest.raises(BudgetExceededError, match="11 steps would exceed the 10"):
        later.update(going_on, *batch_of(0)[0], mask=batch_of(0)[1])


def test_chains_and_clients_are_paid_from_the_same_budget() -> None:
    algorithm = shards.clients(shards.mechanism_of(20.0), num_steps=4)
    cost = Budget(100.0, 1e-4, "replace-one")
    run_seeds(algorithm, keys_for(KEY, 2), shards.records(), 4, budget=cost)
    twice = cost.spent
    assert 0 < twice < 100
    small = Budget(0.9 * twice, 1e-4, "replace-one")
    with pytest.raises(BudgetExceededError):
        run_seeds(algorithm, keys_for(KEY, 2), shards.records(), 4, budget=small)
    assert small.spent == 0
    run_seeds(algorithm, keys_for(KEY, 1), shards.records(), 4, budget=small)
    assert 0 < small.spent < twice


def test_epochs_that_draw_the_same_batches() -> None:
    init, get_batch = poisson_batchify_data((p.XS, p.YS), Q)
    first, second = (get_batch(0, init(key)[1])[1] for key in jax.random.split(KEY))
    assert not np.array_equal(first, second)
    with pytest.raises(InputError, match="split off a new key for every epoch"):
        init(jax.random.split(KEY)[0])
