import math

import pytest

from dpinfer.accounting import accountant
from dpinfer.accounting.events import NonPrivate, PoissonGaussian, Repeat
from dpinfer.accounting.ledger import Ledger, progress_note

STEP = PoissonGaussian(noise_multiplier=1.1, sampling_rate=0.01)


def epsilon(text: str) -> float:
    return float(text.removeprefix("epsilon <= "))


def test_it_grows_from_step_to_step_and_stays_above_the_tight_account() -> None:
    paid = Ledger(adjacency="add-remove", delta=1e-5)
    events = [Repeat(event=STEP, count=count) for count in (100, 1000, 5000)]
    told = [epsilon(progress_note(paid, event)) for event in events]
    tight = [accountant("pld").epsilon(event, 1e-5, "add-remove").upper for event in events]
    assert told == sorted(told)
    assert all(own >= 0.995 * bound for own, bound in zip(told, tight, strict=True))
    assert told[-1] == pytest.approx(tight[-1], rel=0.3)


def test_what_was_paid_before_counts_and_the_budget_bounds_the_whole() -> None:
    earlier = Ledger(adjacency="add-remove", delta=1e-5).spend(Repeat(event=STEP, count=1000), "start")
    alone = progress_note(Ledger(adjacency="add-remove", delta=1e-5), Repeat(event=STEP, count=2000))
    assert progress_note(earlier, Repeat(event=STEP, count=1000)) == alone
    within = Ledger(adjacency="add-remove", delta=1e-5, budget=1.5)
    assert epsilon(progress_note(within, Repeat(event=STEP, count=10**6))) == 1.5


def test_without_privacy_there_is_no_number() -> None:
    told = progress_note(Ledger(adjacency="add-remove", delta=1e-5), NonPrivate(reason="no noise"))
    assert told == "no bound on epsilon so far"
    assert str(math.inf) not in told
