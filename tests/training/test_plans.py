"""Plans of training: paid for before their first step, never exceeded, and found for an epsilon."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from dpinfer.accounting.budget import Budget
from dpinfer.accounting.events import CUT, Compose, Repeat
from dpinfer.accounting.ledger import BudgetExceededError
from dpinfer.accounting.sound import pld
from dpinfer.errors import InputError
from dpinfer.mechanism.grid import grid
from dpinfer.random.chacha import system_key
from dpinfer.training import Loader, dpadam, dpsgd, private
from loops import BARE, PARAMETERS, SETTINGS, STEPS, X, flat, loss, run, same, step

KEY = jax.random.key(0)
PLAN: dict[str, Any] = {**BARE, "epsilon": 2.0, "num_steps": STEPS}


def test_a_plan_ends_after_its_last_step_whatever_way_it_is_run() -> None:
    optimiser = dpsgd(loss, 0.1, **PLAN)
    loader, start = Loader(optimiser, (X,)), optimiser.init(PARAMETERS, KEY)
    last = run(optimiser, start, STEPS, loader)
    with pytest.raises(BudgetExceededError, match=f"all {STEPS} steps that were paid for have been taken"):
        step(optimiser, last, loader)
    assert same(jax.jit(lambda own: step(optimiser, own, loader))(last), last)
    scanned = jax.lax.scan(lambda own, _: (step(optimiser, own, loader), None), start, length=STEPS + 5)[0]
    assert same(scanned, last)
    stacked = jax.tree.map(lambda leaf: leaf[None], last)
    mapped = jax.vmap(lambda own: step(optimiser, own, loader))(stacked)
    assert same(mapped, stacked)


def test_a_second_run_is_refused_where_nothing_is_left() -> None:
    optimiser = dpsgd(loss, 0.1, **PLAN)
    optimiser.init(PARAMETERS, KEY)
    with pytest.raises(BudgetExceededError, match="the budget is 2"):
        optimiser.init(PARAMETERS, jax.random.key(1))
    greedy = dpsgd(loss, 0.1, **SETTINGS, budget=2.0)
    granted = int(greedy.init(PARAMETERS, KEY).granted)
    event = greedy.settings.event
    assert pld.epsilon(Repeat(event, granted), 1e-5 - CUT, "add-remove").upper <= 2.0
    assert pld.epsilon(Repeat(event, granted + 1), 1e-5 - CUT, "add-remove").upper > 2.0
    with pytest.raises(BudgetExceededError, match="has not enough left for a single step of training"):
        greedy.init(PARAMETERS, KEY)


@pytest.mark.parametrize("sampler", ["poisson", "subset", "replacement"])
@pytest.mark.parametrize("epsilon", [0.5, 8.0])
def test_noise_that_is_found_uses_its_epsilon_and_no_more(sampler: Any, epsilon: float) -> None:
    adjacency: Any = "replace-one" if sampler == "replacement" else "zero-out"
    optimiser = dpsgd(
        loss, 0.1, **BARE, epsilon=epsilon, num_steps=50, sampler=sampler, adjacency=adjacency, accountant="pld"
    )
    state = optimiser.init(PARAMETERS, KEY)._replace(step=jnp.int32(50))
    assert optimiser.budget is not None
    assert 0.99 * epsilon <= optimiser.budget.spent <= epsilon
    assert optimiser.ledger(state).sound().upper == optimiser.epsilon(state) == optimiser.budget.spent


def test_the_cost_so_far_grows_to_that_of_the_plan_and_not_beyond() -> None:
    optimiser = dpsgd(loss, 0.1, **PLAN)
    state = optimiser.init(PARAMETERS, KEY)
    costs = [optimiser.epsilon(state, ahead=ahead) for ahead in range(STEPS + 1)]
    assert costs[0] == 0
    assert costs == sorted(costs)
    assert costs[-1] <= 2.0 < optimiser.epsilon(state, ahead=STEPS + 1)


def test_optimisers_that_share_a_budget_add_up_and_share_no_stream() -> None:
    budget = Budget(3.0, 1e-5)
    first = dpsgd(loss, 0.1, **SETTINGS, num_steps=5, budget=budget)
    rest = dpadam(loss, 0.1, **BARE, num_steps=7, budget=budget)
    states = [first.init(PARAMETERS, KEY), first.init(PARAMETERS, KEY)]
    batches = [Loader(first, (X,)).batch(state).records[0] for state in states]
    assert batches[0].tolist() != batches[1].tolist()
    with pytest.raises(BudgetExceededError):
        rest.init(PARAMETERS, KEY)
    left = dpadam(loss, 0.1, **BARE, num_steps=7, budget=budget)
    left.init(PARAMETERS, KEY)
    together = Compose((Repeat(first.settings.event, 10), Repeat(left.settings.event, 7)))
    assert budget.spent == pld.epsilon(together, 1e-5 - 3 * CUT, "add-remove").upper
    assert 2.97 < budget.spent <= 3.0


def test_the_same_program_with_the_same_key_gives_the_same_run() -> None:
    one, other = (dpsgd(loss, 0.1, **PLAN) for _ in range(2))
    assert same(*(run(own, own.init(PARAMETERS, KEY), 3) for own in (one, other)))


def test_a_budget_is_charged_outside_of_programs_alone() -> None:
    optimiser = dpsgd(loss, 0.1, **PLAN)
    programs: list[Any] = [
        jax.jit(optimiser.init), jax.jit(lambda parameters, _: optimiser.init(parameters, KEY)),
        jax.jit(lambda *_: optimiser.init(PARAMETERS, KEY)),
        lambda parameters, key: jax.vmap(lambda own: optimiser.init(parameters, own))(jax.random.split(key)),
    ]  # fmt: skip
    for program in programs:
        with pytest.raises(InputError, match="call init outside of jit, vmap and scan"):
            program(PARAMETERS, KEY)
    assert optimiser.budget is not None
    assert optimiser.budget.spent == 0
    with pytest.raises(InputError, match="ask for it outside of jit"):
        jax.jit(optimiser.epsilon)(optimiser.init(PARAMETERS, KEY))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "one of noise_multiplier, epsilon and budget should be given"),
        ({"epsilon": 1.0}, "num_steps is needed to find the noise"),
        ({"budget": 1.0}, "num_steps is needed to find the noise"),
        ({"epsilon": 1.0, "noise_multiplier": 1.0, "num_steps": 5}, "epsilon and noise_multiplier are both given"),
        ({"epsilon": 1.0, "budget": 1.0, "num_steps": 5}, "epsilon and budget are both given"),
        ({"epsilon": -1.0, "num_steps": 5}, "budget is -1.0, but must be a positive"),
        ({"noise_multiplier": 1.0, "num_steps": 0}, "num_steps is 0, but should be from 1 to"),
        ({"noise_multiplier": 1.0, "budget": -1}, "budget is -1, but must be a positive"),
        ({"noise_multiplier": 1.0, "delta": 2.0}, "delta"),
        ({"noise_multiplier": 1.0, "sampler": "replacement"}, "no meaning under add-remove"),
        ({"noise_multiplier": 1.0, "budget": Budget(1.0, 1e-6)}, "delta is 1e-05, but the budget has 1e-06"),
        ({"noise_multiplier": 0.0}, "noise_multiplier is 0.0"),
        ({"noise_multiplier": 1.0, "expected_batch": 300}, "expected_batch is 300"),
        ({"noise_multiplier": 1.0, "clip": 0.0}, "the clip is 0.0"),
    ],
)
def test_what_cannot_be_is_refused_before_any_step(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        private(optax.sgd(0.1), loss, **BARE | settings)


def test_a_budget_without_a_limit_needs_a_plan() -> None:
    with pytest.raises(InputError, match="num_steps is needed where the budget has no limit"):
        dpsgd(loss, 0.1, **SETTINGS, budget=Budget(math.inf, 1e-5)).init(PARAMETERS, KEY)
    counted = Budget(math.inf, 1e-5)
    dpsgd(loss, 0.1, **SETTINGS, budget=counted, num_steps=4).init(PARAMETERS, KEY)
    assert 0 < counted.spent < 3


def test_a_release_needs_a_secret_key_and_is_on_a_grid() -> None:
    # A power of two as the expected batch: dividing by it rounds nothing.
    optimiser = dpsgd(loss, 1.0, **SETTINGS | {"expected_batch": 16}, release=True, num_steps=3)
    with pytest.raises(InputError, match=r"release mode needs a key that nobody knows: pass dpinfer\.system_key"):
        optimiser.init(PARAMETERS, KEY)
    start = optimiser.init(jax.tree.map(jnp.zeros_like, PARAMETERS), system_key())
    loader = Loader(optimiser, (X,))
    room = loader.batch(start).mask.shape[0]
    moved = step(optimiser, start, loader)
    multiples = flat(moved).astype(float) * 16 / grid(0.5, 1.3 * 0.5, room)
    assert 1000 < np.abs(multiples).max() < 2**24
    np.testing.assert_array_equal(multiples, np.rint(multiples))
    last = run(optimiser, moved, 2, loader)
    scanned = jax.lax.scan(lambda own, _: (step(optimiser, own, loader), None), start, length=5)[0]
    assert same(last, scanned)
    assert not same(last, run(optimiser, optimiser.init(start.parameters, system_key()), 3, loader))
