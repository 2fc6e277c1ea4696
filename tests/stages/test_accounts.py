"""A run is calibrated and booked by two accounts: the paper's, of the run as it sees it, and a sound one."""

import dataclasses
from typing import Any

import pytest

from dpinfer.accounting.events import PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.accounting.ledger import BudgetExceededError, Ledger
from dpinfer.accounting.sound import pld
from dpinfer.errors import InputError
from pipeline import accounts, experiment
from pipeline.settings.base import Claimed
from pipeline.settings.cell import Dpsgd, Dpvi
from pipeline.settings.data import Abalone
from pipeline.settings.method import Method
from pipeline.settings.model import Logistic
from pipeline.stages import calibrate

COUNT = 1000
SETTINGS = Dpvi(
    data=Abalone(), model=Logistic(), num_steps=200, noise_multiplier=2.0, delta=1e-4, expected_batch=20, clip=1.0,
    sampler="subset", adjacency="replace-one",
)  # fmt: skip


def ledger(noise: float = 2.0, **changes: Any) -> Ledger:
    return booked(dataclasses.replace(SETTINGS, **changes), noise)


def booked(settings: Method, noise: float) -> Ledger:
    event = experiment.build(settings, COUNT, noise).event(settings.num_steps)
    return accounts.spent(settings, event, experiment.claimed(settings, COUNT, noise)(settings.num_steps))


def claimed_by(book: Ledger) -> float:
    epsilon = book.paper()
    assert epsilon is not None
    return epsilon


def test_the_paper_may_see_another_sampler_and_other_neighbours() -> None:
    book = ledger(claimed=Claimed(sampler="poisson", adjacency="add-remove"))
    seen = Repeat(PoissonGaussian(noise_multiplier=2.0, sampling_rate=0.02), 200)
    run = Repeat(SubsetGaussian(noise_multiplier=2.0, sampling_rate=0.02), 200)
    assert claimed_by(book) == pytest.approx(pld.epsilon(seen, 1e-4, "add-remove").upper)
    assert book.sound().upper == pytest.approx(pld.epsilon(run, 1e-4, "replace-one").upper)
    assert claimed_by(book) < book.sound().upper


def test_factors_and_options_of_the_paper() -> None:
    claimed = Claimed(sampler="poisson", adjacency="add-remove", noise_factor=2.0, epsilon_factor=2.0, delta=1e-3)
    seen = Repeat(PoissonGaussian(noise_multiplier=4.0, sampling_rate=0.02), 200)
    assert claimed_by(ledger(claimed=claimed)) == pytest.approx(2 * pld.epsilon(seen, 1e-3, "add-remove").upper)
    few = Claimed(sampler="poisson", adjacency="add-remove", options={"max_lambda": 2})
    many = dataclasses.replace(few, options={"max_lambda": 64})
    assert claimed_by(ledger(accountant="moments", claimed=few)) > claimed_by(
        ledger(accountant="moments", claimed=many)
    )


@pytest.mark.parametrize("target", ["sound", "paper"])
def test_whose_epsilon_the_target_is(target: Any) -> None:
    claimed = Claimed(sampler="poisson", adjacency="add-remove")
    wish = {"epsilon": 1.0, "noise_multiplier": None, "target": target, "claimed": claimed}
    noise = calibrate.noise(dataclasses.replace(SETTINGS, **wish), COUNT)
    assert noise is not None
    book = ledger(noise, **wish)
    spent = book.sound().upper if target == "sound" else claimed_by(book)
    assert 0.99 < spent <= 1.0
    assert (book.sound().upper > 1.0) == (target == "paper")


def test_a_sound_target_is_not_overspent() -> None:
    with pytest.raises(BudgetExceededError, match="the budget is 1"):
        ledger(2.0, epsilon=1.0, noise_multiplier=None, claimed=Claimed(sampler="poisson", adjacency="add-remove"))


def test_the_paper_may_see_another_sampling_rate() -> None:
    book = ledger(claimed=Claimed(sampler="poisson", adjacency="add-remove", sampling_rate=0.025))
    seen = Repeat(PoissonGaussian(noise_multiplier=2.0, sampling_rate=0.025), 200)
    assert claimed_by(book) == pytest.approx(pld.epsilon(seen, 1e-4, "add-remove").upper)
    with pytest.raises(InputError, match="has no sampling rate that could be another"):
        ledger(sampler="replacement", claimed=Claimed(sampling_rate=0.025))


@pytest.mark.parametrize("clipping", ["mean_printed", "mean_code"])
def test_the_paper_may_take_a_clipped_mean_for_clipped_records(clipping: Any) -> None:
    mean = Dpsgd(
        data=Abalone(), model=Logistic(), num_steps=200, noise_multiplier=2.0, delta=1e-4, expected_batch=20,
        clip=1.0, clipping=clipping, claimed=Claimed(clipped=True),
    )  # fmt: skip
    book = booked(mean, 2.0)
    seen = Repeat(PoissonGaussian(noise_multiplier=2.0, sampling_rate=0.02), 200)
    assert claimed_by(book) == pytest.approx(pld.epsilon(seen, 1e-4, "add-remove").upper)
    assert book.sound().upper == float("inf")
    assert "not what each record adds" in book.sound().detail
