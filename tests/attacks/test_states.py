"""Attacks on states and budgets: copies, forgeries and states of others buy no step that was not paid for."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.infer import Trace_ELBO
from numpyro.optim import SGD, Adam

from attacks.test_budgets import BATCH, KEY, STEPS, batch_of, calibrated, moved
from dpinfer.accounting.budget import Budget
from dpinfer.accounting.events import PoissonGaussian, Repeat
from dpinfer.accounting.ledger import BudgetExceededError
from dpinfer.errors import InputError
from dpinfer.inference.run import keys_for, run_seeds
from dpinfer.svi import DPSVI
from dpinfer.svi.charge import DPSVIState
from svi import programs as p

SCALE = 2.2
"""Noise with which the steps cost a little less than 1."""
UNPAID = "this budget has not paid for the steps of this state"


def with_noise(scale: float, budget: Budget | None, optim: Any = None) -> DPSVI:
    return DPSVI(
        p.simple, p.simple_guide, optim or Adam(0.02), Trace_ELBO(), 1.0, scale, expected_batch=BATCH,
        num_records=p.N, budget=budget, num_steps=STEPS, N=p.N,
    )  # fmt: skip


def paid(optim: Any = None) -> DPSVI:
    return with_noise(SCALE, Budget(1.0, 1e-4), optim)


def taken(svi: DPSVI, state: DPSVIState, number: int = 0) -> DPSVIState:
    records, mask = batch_of(number)
    return svi.update(state, *records, mask=mask)[0]


@pytest.mark.parametrize("other", ["no budget", "another budget", "more noise"])
def test_a_state_that_was_paid_for_elsewhere_or_by_other_noise(other: str) -> None:
    own = Budget(1.0, 1e-4)
    svi = with_noise(SCALE, own)
    noise, budget = {
        "no budget": (SCALE, None), "another budget": (SCALE, Budget(9.0, 1e-4)), "more noise": (20 * SCALE, own)
    }[other]  # fmt: skip
    foreign = with_noise(noise, budget).init(KEY, p.XS, p.YS)
    before = own.spent
    with pytest.raises(BudgetExceededError, match=UNPAID):
        taken(svi, foreign)
    compiled = jax.jit(lambda state, records, mask: svi.update(state, *records, mask=mask)[0])
    assert not moved(foreign, compiled(foreign, *batch_of(0)))
    if budget is not None:
        with pytest.raises(BudgetExceededError, match=UNPAID):
            svi.run(KEY, 1, p.XS, p.YS, progress_bar=False, init_state=foreign)
    assert own.spent == before


def test_a_free_state_is_paid_for_whole_when_a_run_goes_on_from_it() -> None:
    svi, unpaid = paid(), with_noise(SCALE, None)
    free = taken(unpaid, unpaid.init(KEY, p.XS, p.YS))
    svi.run(KEY, STEPS - 1, p.XS, p.YS, progress_bar=False, init_state=free)
    assert svi.budget is not None
    cost = svi.budget.ledger.entries[0].event
    assert cost == Repeat(PoissonGaussian(SCALE, BATCH / p.N), STEPS)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_budget_has_no_copies(copied: Callable[[Any], Any]) -> None:
    with pytest.raises(InputError, match="a budget cannot be copied or pickled"):
        copied(Budget(1.0, 1e-4))


def test_copies_of_an_object_spend_from_one_budget() -> None:
    svi = paid()
    svi.init(KEY, p.XS, p.YS)
    with pytest.raises(BudgetExceededError):
        copy.copy(svi).init(KEY, p.XS, p.YS)
    with pytest.raises(InputError, match="a budget cannot be copied"):
        copy.deepcopy(svi)


def test_a_budget_by_another_name_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    event = Repeat(PoissonGaussian(1.0, 0.01), 100)
    monkeypatch.chdir(tmp_path)
    first = Budget(9.0, 1e-5, path="budget.json")
    first.spend(event, "first")
    (tmp_path / "link.json").symlink_to("budget.json")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    second = Budget(9.0, 1e-5, path=tmp_path / "link.json")
    second.spend(event, "second")
    assert len(first.ledger.entries) == len(second.ledger.entries) == 2
    assert (tmp_path / "link.json").is_symlink()


def test_threads_that_spend_at_once(tmp_path: Path) -> None:
    event = Repeat(PoissonGaussian(1.0, 0.01), 100)
    budgets = [Budget(9.0, 1e-5, path=tmp_path / "budget.json") for _ in range(2)]
    threads = [Thread(target=budget.spend, args=(event, "x")) for budget in budgets for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(budgets[0].ledger.entries) == 8


@pytest.mark.parametrize(
    ("name", "value"), [("expected_batch", p.N), ("dp_scale", 0.0), ("num_records", 10**6), ("_payer", None)]
)
def test_what_the_account_rests_on_is_not_changed_afterwards(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} is what the account rests on"):
        setattr(paid(), name, value)


@pytest.mark.parametrize(
    "mask", [-jnp.ones(p.N, jnp.int32), jnp.full(p.N, 0.1), jnp.ones((p.N, 1), bool), jnp.ones(3, bool), [True]]
)
def test_masks_by_which_more_records_count_than_seem_to(mask: Any) -> None:
    """Of -1 for each record the sum is small, and every record counts."""
    svi = paid()
    with pytest.raises(InputError, match="the mask should be an array of 120 truth values"):
        svi.update(svi.init(KEY, p.XS, p.YS), p.XS, p.YS, mask=mask)


def test_batches_of_nobody() -> None:
    svi = with_noise(1.0, None)
    with pytest.raises(InputError, match="there are no records"):
        svi.update(svi.init(KEY, p.XS, p.YS), p.XS[:0], p.YS[:0])


def test_all_records_by_keyword_beside_a_batch() -> None:
    def model(x: Any, everyone: Any = None) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0 if everyone is None else everyone.mean(), 1.0))
        with numpyro.plate("records", len(x)):
            numpyro.sample("x", dist.Normal(mu, 1.0), obs=x)

    def guide(x: Any, everyone: Any = None) -> None:
        del x, everyone
        numpyro.sample("mu", dist.Delta(numpyro.param("at", 0.0)))

    svi = DPSVI(model, guide, SGD(0.1), Trace_ELBO(), 1.0, 1.0, num_records=p.N)
    state = svi.init(KEY, p.XS[:, 0])
    with pytest.raises(InputError, match="the keyword argument everyone has as many entries as there are records"):
        svi.update(state, p.XS[:7, 0], everyone=p.XS[:, 0])


def test_whole_runs_inside_of_programs() -> None:
    svi = paid()
    state = svi.init(KEY, p.XS, p.YS)

    def whole(xs: jax.Array, state: DPSVIState | None = None) -> Any:
        return svi.run(KEY, 2, xs, p.YS, progress_bar=False, init_state=state).params

    programs: list[Any] = [
        jax.jit(whole),
        jax.jit(lambda xs: whole(xs, state)),
        lambda xs: jax.vmap(whole)(xs[None]),
    ]
    for program in programs:
        with pytest.raises(InputError, match="call it outside of jit and vmap"):
            program(p.XS)


def test_the_loop_inside_of_run_is_not_to_be_had_without_paying() -> None:
    svi = paid()
    state = svi.init(KEY, p.XS, p.YS)
    with pytest.raises(InputError, match="are paid for from its budget by run, init and update alone"):
        run_seeds(svi.algorithm(state, 99, p.XS, p.YS), keys_for(KEY, 2), {"args": (p.XS, p.YS)}, 99)  # type: ignore[dict-item]


def test_one_state_mapped_over_batches_or_keys_is_one_step() -> None:
    svi = paid(SGD(0.1))
    state = svi.init(KEY, p.XS, p.YS)
    records, masks = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(batch_of(number) for number in range(3)))
    after = jax.vmap(lambda own, mask: svi.update(state, *own, mask=mask)[0])(records, masks)
    assert sorted(after.optim_state[0].tolist()) == [0, 0, 1]
    other = paid(SGD(0.1))
    begun, (own, mask) = other.init(KEY, p.XS, p.YS), batch_of(0)
    keyed: Any = jax.vmap(lambda key: other.update(begun._replace(rng_key=key), *own, mask=mask)[0])
    assert sorted(keyed(jax.random.split(KEY, 3)).optim_state[0].tolist()) == [0, 0, 1]


def test_without_compilation_it_is_the_same() -> None:
    with jax.disable_jit():
        svi = paid(SGD(0.1))
        state = svi.init(KEY, p.XS, p.YS)
        for number in range(STEPS):
            state = taken(svi, state, number)
        with pytest.raises(BudgetExceededError, match="11 steps would exceed"):
            taken(svi, state)


def test_other_targets_than_those_of_the_budget() -> None:
    with pytest.raises(InputError, match=r"delta is 1e-09, but the budget has 0\.001"):
        calibrated(delta=1e-9, budget=Budget(1.0, 1e-3))
    with pytest.raises(InputError, match="adjacency is replace-one, but the budget has add-remove"):
        calibrated(delta=None, adjacency="replace-one", budget=Budget(1.0, 1e-3))


def test_noise_that_is_none() -> None:
    with pytest.raises(BudgetExceededError, match="epsilon would be inf"):
        with_noise(0.0, Budget(1.0, 1e-4)).init(KEY, p.XS, p.YS)
    for scale in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="should be finite and not negative"):
            with_noise(scale, None)


AGAIN = """
import sys
import jax
from numpyro.infer import Trace_ELBO
from numpyro.optim import SGD
from dpinfer.accounting.budget import Budget
from dpinfer.svi import DPSVI
from svi import programs as p

svi = DPSVI(
    p.simple, p.simple_guide, SGD(float(sys.argv[2])), Trace_ELBO(), 1e-6, 1.0, num_records=p.N,
    budget=Budget(99.0, 1e-4, path=sys.argv[1]), num_steps=1, N=p.N,
)
print(svi.run(jax.random.key(2), 1, p.XS, p.YS, progress_bar=False).params["w_loc"].tolist())
"""


def test_a_program_that_is_started_twice_with_one_key_has_new_noise(tmp_path: Path) -> None:
    """Else the difference of what two learning rates come to would be one of clipped sums, without any noise."""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    moves = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", AGAIN, str(tmp_path / "budget.json"), "1e6"],
            env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        moves.append(np.array(eval(done.stdout)))
    assert np.abs(moves[0] - moves[1]).min() > 1e-3 * np.abs(moves[0]).max()
    assert len(Budget(99.0, 1e-4, path=tmp_path / "budget.json").ledger.entries) == 2


def test_a_state_of_another_process_goes_on_without_init(tmp_path: Path) -> None:
    path = tmp_path / "budget.json"
    svi = with_noise(SCALE, Budget(1.0, 1e-4, path=path))
    state = taken(svi, svi.init(KEY, p.XS, p.YS))
    for budget in (Budget(1.0, 1e-4, path=path), Budget(1.0, 1e-4)):
        later = with_noise(SCALE, budget)
        if budget.spent:
            assert not moved(taken(later, state, 1), taken(svi, state, 1))
        else:
            with pytest.raises(BudgetExceededError, match="keep the budget in a file to go on in another process"):
                taken(later, state, 1)
