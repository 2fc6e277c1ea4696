"""Every mechanism that is audited: its claims, and what an audit of it says."""

import json
import math

import jax
import pytest

from dpinfer import cli
from dpinfer.audit.bound import Lower
from dpinfer.audit.case import Audited, Seen, audit
from dpinfer.audit.cases import CASES
from dpinfer.audit.names import MECHANISMS, Mechanism
from dpinfer.types import Key

KEY = jax.random.key(21)


def test_every_case_has_a_name() -> None:
    assert tuple(CASES) == MECHANISMS


@pytest.mark.parametrize(
    ("name", "verdict", "share"),
    [
        ("dpvi", "within", 0.0),
        ("dpsgd_subset", "exceeds eps_paper", 0.4),
        ("barker", "within", 0.1),
        ("quantile", "within", 0.7),
        ("percentile", "exceeds eps_paper", 0.0),
        ("mean_code", "exceeds eps_paper", 0.0),
    ],
)
def test_sound_accounts_stand_and_the_others_fall(name: Mechanism, verdict: str, share: float) -> None:
    found = audit(CASES[name](), KEY, 10_000, 0.999)
    assert found.verdict == verdict
    assert found.eps_paper is not None
    assert 0 < found.eps_paper < math.inf
    # Near enough to show that the neighbours are telling.
    assert math.isinf(found.eps_sound) or found.lower.epsilon > share * found.eps_sound


def test_the_command_prints_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["audit", "pvi_shared", "--trials", "2000", "--confidence", "0.99", "--seed", "3"]
    assert cli.main(line) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "mechanism   lower bound  confidence  eps_paper  eps_sound  verdict            neighbours"
    )
    assert "exceeds eps_paper  a client whose change is far beyond the clip" in said
    assert cli.main([*line, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)[0]
    assert (row["mechanism"], row["confidence"]) == ("pvi_shared", 0.99)
    assert 900 < row["trials"] < 1000  # half of those on the data set that the coin fell to less often
    assert row["eps_paper"] < row["epsilon"] < row["eps_sound"]


def test_a_broken_mechanism_ends_the_command_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right, quiet = CASES["pvi_server"](), CASES["pvi_shared"]()

    def run(key: Key, trials: int) -> Seen:
        return quiet.run(key, trials)._replace(ledger=right.run(key, trials).ledger)

    monkeypatch.setitem(CASES, "pvi_clients", lambda: quiet._replace(run=run))
    assert cli.main(["audit", "pvi_clients", "--trials", "4000"]) == 1
    assert "exceeds eps_sound" in capsys.readouterr().out


def test_an_unknown_mechanism_and_too_few_trials_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", "dp-sgd"]) == 2
    assert "the mechanism is 'dp-sgd', but should be one of dpsgd, dpsgd_steps" in capsys.readouterr().err
    assert cli.main(["audit", "pvi_server", "--trials", "10"]) == 2
    assert "the number of trials is 10, but should be at least 20" in capsys.readouterr().err


def test_a_verdict_says_which_account_falls() -> None:
    found = Lower(1.5, 10, 1, 100)
    wanted: dict[tuple[float, float | None], str] = {
        (1.0, 2.0): "exceeds eps_sound", (2.0, 1.0): "exceeds eps_paper", (2.0, 2.0): "within",
        (1.0, None): "exceeds eps_sound", (2.0, None): "within",
    }  # fmt: skip
    for (eps_sound, eps_paper), verdict in wanted.items():
        assert Audited(found, eps_paper, eps_sound, "add-remove", 1e-3).verdict == verdict
