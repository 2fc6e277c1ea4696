"""The ledger: budgets, warm starts, claims, files."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from dpinfer.accounting.events import CUT, Barker, Compose, Event, Gaussian, NonPrivate, PoissonGaussian, Repeat
from dpinfer.accounting.ledger import BudgetExceededError, Ledger, StatedAccount, ledger_from_dict, read
from dpinfer.accounting.sound import pld
from dpinfer.errors import InputError

FIT = Repeat(PoissonGaussian(2.0, 0.01), 1000)


def test_spending_adds_up_and_stops_before_the_budget() -> None:
    ledger = Ledger("add-remove", 1e-5, budget=1.0).spend(FIT, "fit")
    once = ledger.sound().upper
    # A run on Poisson batches takes what it may cut of them off delta.
    assert once == pld.epsilon(FIT, 1e-5 - CUT, "add-remove").upper < 1.0
    with pytest.raises(BudgetExceededError, match="second fit"):
        ledger.spend(Repeat(FIT, 4), "second fit")
    assert ledger.sound().upper == once
    twice = Ledger("add-remove", 1e-5).spend(FIT, "fit").spend(FIT, "again")
    assert once < twice.sound().upper < 2 * once
    assert twice.sound().upper == pld.epsilon(Repeat(FIT, 2), 1e-5 - 2 * CUT, "add-remove").upper


def test_a_warm_start_pays_for_the_run_it_starts_from() -> None:
    start = Ledger("replace-one", 1e-6).spend(Repeat(PoissonGaussian(2.0, 1e-4), 1000), "start")
    chain: Event = Repeat(Barker(1000, 10**6), 5000)
    run = Ledger("replace-one", 1e-6).spend(chain, "chain").compose(start)
    assert [entry.what for entry in run.entries] == ["start", "chain"]
    assert run.sound().upper > Ledger("replace-one", 1e-6).spend(chain, "chain").sound().upper
    together = Compose((chain, start.event))
    assert run.sound().upper == pld.epsilon(together, 1e-6 - CUT, "replace-one").upper
    with pytest.raises(BudgetExceededError):
        Ledger("replace-one", 1e-6, budget=0.015).spend(chain, "chain").compose(start)
    with pytest.raises(InputError, match="add-remove"):
        run.compose(Ledger("add-remove", 1e-6))


def test_no_epsilon_is_infinite_with_the_reason() -> None:
    reason = "the clip is a percentile of the data"
    ledger = Ledger("add-remove", 1e-5).spend(NonPrivate(reason), "fit")
    assert ledger.to_dict()["eps_sound"] == math.inf
    assert ledger.to_dict()["reason"] == reason
    with pytest.raises(BudgetExceededError):
        Ledger("add-remove", 1e-5, budget=100.0).spend(NonPrivate(reason), "fit")
    meaningless = Ledger("add-remove", 1e-5).spend(Barker(100, 1000), "chain")
    assert meaningless.sound().upper == math.inf
    assert "no meaning" in meaningless.sound().detail


def test_claims_add_up_as_the_paper_adds_them() -> None:
    chain, start = Repeat(Barker(1000, 10**6), 20_000), Repeat(PoissonGaussian(10.0, 1e-4), 1000)
    ledger = (
        Ledger("replace-one", 2e-6)
        .spend(start, "start", StatedAccount(start, "moments", 1e-6, "add-remove", options={"max_lambda": 64}))
        .spend(chain, "chain", StatedAccount(chain, "barker", 1e-6, "replace-one", options={"max_order": 100}))
    )
    assert ledger.paper() == pytest.approx(1.0004 + 0.2159, abs=1e-4)
    assert ledger.sound().upper < 0.05
    doubled = StatedAccount(FIT, "moments", 5e-4, "add-remove", factor=2.0)
    assert doubled.epsilon() == 2 * StatedAccount(FIT, "moments", 5e-4, "add-remove").epsilon()
    assert Ledger("add-remove", 1e-5).paper() is None


def test_files_are_valid_json_and_read_back(tmp_path: Path) -> None:
    claim = StatedAccount(FIT, "moments", 1e-5, "add-remove", options={"max_lambda": 16})
    ledger = Ledger("add-remove", 1e-5, budget=None).spend(FIT, "fit", claim).spend(NonPrivate("look"), "peek")
    path = tmp_path / "ledger.json"
    ledger.write(path)
    values = json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert values["eps_sound"] == "inf"
    assert values["eps_paper"] == pytest.approx(claim.epsilon())
    assert {"adjacency", "delta", "accountant", "reason"} <= set(values)
    assert read(path) == ledger
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.json"]


def test_bad_files_and_settings(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "absent.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "broken.json")
    with pytest.raises(InputError, match="cannot be read"):
        ledger_from_dict({"adjacency": "add-remove"})
    for budget in (0.0, -1.0, math.nan):
        with pytest.raises(InputError, match="budget"):
            Ledger("add-remove", 1e-5, budget=budget)
    with pytest.raises(InputError, match="delta"):
        Ledger("add-remove", 0.0)
    with pytest.raises(InputError, match="adjacency"):
        Ledger("swap", 1e-5)  # type: ignore[arg-type]


def test_events_and_ledgers_load_no_heavy_library() -> None:
    code = (
        "import sys; import dpinfer.accounting.events, dpinfer.accounting.ledger; "
        "sys.exit(any(name in sys.modules for name in ('jax', 'dp_accounting', 'scipy', 'fourier_accountant')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert Ledger("add-remove", 1e-5).spend(Gaussian(10.0), "x").sound().upper > 0.0
