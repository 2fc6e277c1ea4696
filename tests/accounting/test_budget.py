"""Budgets: what is spent adds up over everything, survives in a file, and is never exceeded."""

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpinfer.accounting.base import worst
from dpinfer.accounting.budget import Budget, budget_of
from dpinfer.accounting.events import CUT, Compose, Gaussian, PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.accounting.ledger import BudgetExceededError, Ledger
from dpinfer.accounting.sound import pld
from dpinfer.errors import InputError

STEP = PoissonGaussian(2.0, 0.01)


def test_everything_that_spends_adds_up_and_is_stopped_at_the_limit() -> None:
    budget = Budget(1.0, 1e-5)
    budget.spend(Repeat(STEP, 1000), "fit")
    budget.spend(Gaussian(10.0), "a mean")
    spent = budget.spent
    together = Compose((Repeat(STEP, 1000), Gaussian(10.0)))
    assert spent == pld.epsilon(together, 1e-5 - CUT, "add-remove").upper
    with pytest.raises(BudgetExceededError, match="the budget is 1"):
        budget.spend(Gaussian(1.0), "too much")
    assert budget.spent == spent
    assert f"spent={spent:.4g}" in repr(budget)


def test_most_steps_and_least_noise_are_what_is_left_after_what_was_spent() -> None:
    budget = Budget(1.0, 1e-5)
    fresh = budget.most_steps(STEP)
    budget.spend(Repeat(STEP, fresh // 2), "half of it")
    left = budget.most_steps(STEP)
    assert left < fresh
    assert budget.allows(Repeat(STEP, left))
    assert not budget.allows(Repeat(STEP, left + 1))
    sigma = budget.noise_multiplier(lambda noise: Repeat(PoissonGaussian(noise, 0.01), 100))
    budget.spend(Repeat(PoissonGaussian(sigma, 0.01), 100), "the rest")
    assert 0.99 < budget.spent <= 1.0
    assert budget.most_steps(Gaussian(5.0)) == 0


def test_a_file_keeps_a_budget_over_processes_and_threads(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "budget.json"

    def spend(_: int) -> bool:
        try:
            Budget(1.0, 1e-5, path=path).spend(Gaussian(10.0), "a mean")
        except BudgetExceededError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        allowed = sum(pool.map(spend, range(24)))
    alone = Budget(1.0, 1e-5)
    assert 0 < allowed == alone.most_steps(Gaussian(10.0)) < 24
    assert Budget(1.0, 1e-5, path=path).spent <= 1.0
    assert not path.stat().st_mode & 0o077


def test_what_may_be_cut_of_poisson_batches_is_part_of_delta() -> None:
    run = Repeat(STEP, 1000)
    for event, cuts in ((run, 1), (Compose((run, run)), 2), (Repeat(run, 3), 1), (Gaussian(5.0), 0)):
        assert worst(pld, event, 1e-9, "add-remove") == pld.epsilon(event, 1e-9 - cuts * CUT, "add-remove")
    assert worst(pld, Repeat(PoissonGaussian(2.0, 1.0), 9), 1e-9, "add-remove").upper > 0
    refused = Ledger("add-remove", CUT).spend(run, "fit").sound()
    assert refused.upper == math.inf
    assert "takes 1e-12 of it" in refused.detail


def test_zeroing_out_a_record_costs_no_more_than_removing_it() -> None:
    for event in (Repeat(STEP, 100), Gaussian(3.0), Repeat(SubsetGaussian(3.0, 0.1), 10)):
        of = {name: Ledger(name, 1e-6).spend(event, "x").sound().upper for name in ("add-remove", "zero-out")}
        assert of["zero-out"] == of["add-remove"] < math.inf


def test_what_a_budget_may_be_given_as() -> None:
    budget = Budget(2.0, 1e-5, "replace-one")
    assert budget_of(budget, 1e-5, "replace-one") is budget
    assert budget_of(None, 1e-5, None) is None
    made = budget_of(3.0, 1e-6, None)
    assert made is not None
    assert (made.epsilon, made.delta, made.adjacency) == (3.0, 1e-6, "add-remove")
    with pytest.raises(InputError, match=r"delta is 0.001, but the budget has 1e-05"):
        budget_of(budget, 1e-3, None)
    with pytest.raises(InputError, match="needs a delta"):
        budget_of(1.0, None, None)
    with pytest.raises(InputError, match="budget"):
        Budget(0.0, 1e-5)
    assert Budget(math.inf, 1e-5).spend(Gaussian(0.1), "much").entries
