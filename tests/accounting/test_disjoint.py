"""Records of different clients pay for their own client's releases alone."""

import json

import pytest

from dpinfer.accounting import calibrate
from dpinfer.accounting.base import each, parts, worst
from dpinfer.accounting.events import Compose, Disjoint, Gaussian, NonPrivate, Repeat, from_dict, tally, to_dict
from dpinfer.accounting.ledger import BudgetExceededError, Ledger, StatedAccount, ledger_from_dict
from dpinfer.accounting.sound import moments, pld
from dpinfer.errors import InputError

MUCH, LITTLE = Gaussian(noise_multiplier=1.0), Gaussian(noise_multiplier=5.0)
BOTH = Disjoint((Repeat(MUCH, 3), Repeat(LITTLE, 4)))


def alone(event: object) -> float:
    return pld.epsilon(event, 1e-5, "add-remove").upper  # type: ignore[arg-type]


def test_the_guarantee_is_the_largest_never_the_sum() -> None:
    found = [bound.upper for bound in each(pld, BOTH, 1e-5, "add-remove")]
    assert found == [alone(Repeat(MUCH, 3)), alone(Repeat(LITTLE, 4))]
    assert worst(pld, BOTH, 1e-5, "add-remove").upper == max(found)


def test_composition_is_by_part() -> None:
    shared = Gaussian(noise_multiplier=2.0)
    first, second = parts(Compose((Repeat(BOTH, 2), shared)))
    assert alone(first) == pytest.approx(alone(Compose((Repeat(MUCH, 6), shared))))
    assert alone(second) == pytest.approx(alone(Compose((Repeat(LITTLE, 8), shared))))
    with pytest.raises(InputError, match="cannot be composed"):
        parts(Compose((BOTH, Disjoint((MUCH, MUCH, MUCH)))))


def test_nobody_adds_up_what_is_disjoint() -> None:
    with pytest.raises(InputError, match="each part must be accounted on its own"):
        tally(BOTH)


def test_an_event_by_parts_survives_json() -> None:
    assert from_dict(json.loads(json.dumps(to_dict(BOTH)))) == BOTH


def test_a_ledger_books_every_client() -> None:
    claim = StatedAccount(BOTH, "moments", 1e-5, "add-remove")
    book = Ledger(adjacency="add-remove", delta=1e-5).spend(BOTH, "run", claim)
    clients = book.to_dict()["clients"]
    assert [own["eps_sound"] for own in clients] == pytest.approx(
        [alone(Repeat(MUCH, 3)), alone(Repeat(LITTLE, 4))]
    )
    by_moments = [moments.epsilon(part, 1e-5, "add-remove").upper for part in parts(BOTH)]
    assert [own["eps_paper"] for own in clients] == pytest.approx(by_moments)
    assert book.sound().upper == clients[0]["eps_sound"]
    assert book.paper() == max(by_moments)
    assert ledger_from_dict(book.to_dict()).clients() == clients
    assert Ledger(adjacency="add-remove", delta=1e-5).spend(MUCH, "run").to_dict()["clients"] == []


def test_one_client_without_privacy_leaves_none_for_all() -> None:
    book = Ledger(adjacency="add-remove", delta=1e-5).spend(Disjoint((NonPrivate(reason="none"), MUCH)), "run")
    assert book.sound().upper == float("inf")
    assert book.clients()[1]["eps_sound"] == pytest.approx(alone(MUCH))


def test_a_budget_holds_for_the_costliest_client() -> None:
    book = Ledger(adjacency="add-remove", delta=1e-5, budget=alone(Repeat(LITTLE, 4)))
    book.spend(Repeat(LITTLE, 4), "alike")
    with pytest.raises(BudgetExceededError):
        book.spend(BOTH, "run")


def test_noise_is_calibrated_for_the_costliest_client() -> None:
    def event_of(noise: float) -> Disjoint:
        return Disjoint((Repeat(Gaussian(noise), 9), Gaussian(noise)))

    noise = calibrate.noise_multiplier(1.0, 1e-5, event_of, "add-remove")
    assert 0.99 < alone(Repeat(Gaussian(noise), 9)) <= 1.0
