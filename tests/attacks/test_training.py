"""Attacks on training loops: batches and states that were tampered with or are of others, and short numbers."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from dpinfer.accounting.budget import Budget
from dpinfer.accounting.ledger import BudgetExceededError
from dpinfer.errors import InputError
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.mechanism.grid import on_grid
from dpinfer.training import Loader, dpsgd
from loops import PARAMETERS, SETTINGS, X, loss, same, step

KEY = jax.random.key(0)
PLAN: dict[str, Any] = {**SETTINGS, "num_steps": 3}


@pytest.mark.parametrize("other", [None, 5.0])
def test_a_state_of_an_optimiser_that_has_another_budget_or_none(other: float | None) -> None:
    budget = Budget(5.0, 1e-5)
    optimiser = dpsgd(loss, 0.1, **PLAN, budget=budget)
    state = dpsgd(loss, 0.1, **PLAN, budget=other).init(PARAMETERS, KEY)
    with pytest.raises(BudgetExceededError, match="the budget has not paid for the run of this state"):
        step(optimiser, state)
    assert same(jax.jit(lambda own: step(optimiser, own))(state), state)
    assert budget.spent == 0


def test_a_batch_in_which_other_entries_count() -> None:
    """All entries of a padded batch are more than were drawn, and some of them are there twice."""
    optimiser = dpsgd(loss, 0.1, **PLAN)
    state = optimiser.init(PARAMETERS, KEY)
    batch = Loader(optimiser, (X,)).batch(state)
    everyone = batch._replace(records=(jnp.asarray(X),), mask=jnp.ones(len(X), bool))
    for forged in (batch._replace(mask=jnp.ones_like(batch.mask)), everyone):
        with pytest.raises(InputError, match="the batch was drawn for another state"):
            optimiser.step(state, forged)
        assert same(jax.jit(optimiser.step)(state, forged), state)


@pytest.mark.parametrize("name", ["settings", "budget", "num_steps", "noise_multiplier", "_optimiser"])
def test_what_the_account_rests_on_is_not_changed_afterwards(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} of an optimiser stays as it is"):
        setattr(dpsgd(loss, 0.1, **PLAN), name, None)


@pytest.mark.parametrize("kind", [jnp.float16, jnp.bfloat16])
def test_numbers_of_16_bits_in_which_norms_come_out_short(kind: Any) -> None:
    """Squares of 1e-4 are lost in float16: 20 000 such entries, of norm 1.4 clips, were left as they are."""
    parameters = jnp.zeros(20_000, kind)
    with pytest.raises(InputError, match="in which the norm of a gradient cannot be bounded"):
        dpsgd(loss, 0.1, **PLAN).init(parameters, KEY)
    for mechanism in (gaussian(0.01, 1.0), on_grid(0.01, 1.0, 4)):
        noise = mechanism.random(KEY, jnp.zeros(20_000))
        with pytest.raises(InputError, match="in which the norm of a gradient cannot be bounded"):
            mechanism.release(
                noise, lambda own, record: (own * record).sum(), parameters, parameters[None], jnp.ones(1, bool)
            )
