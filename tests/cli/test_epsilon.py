from collections.abc import Callable
from typing import Any

import pytest

from dpinfer.accounting.events import Gaussian, PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.accounting.sound import moments, pld, rdp, wang

RUN = "epsilon --sampling-rate 0.005 --noise-multiplier 1.1 --steps 2500 --delta 1e-5"
POISSON = Repeat(PoissonGaussian(1.1, 0.005), 2500)
SUBSET = Repeat(SubsetGaussian(1.1, 0.005), 2500)


def test_the_default_in_words(say: Callable[[str], str]) -> None:
    first, second = say(RUN).splitlines()
    assert first == "epsilon <= 1.1303 at delta 1e-05; no sound accountant can claim less than 1.1269"
    assert second.startswith("(pld, sampler poisson, add-remove: connect-the-dots, interval ")


def test_the_default_as_json(ask: Callable[[str], Any]) -> None:
    bound = pld.epsilon(POISSON, 1e-5, "add-remove", with_lower=True)
    assert ask(RUN) == {
        "epsilon": bound.upper,
        "epsilon_lower": bound.lower,
        "accountant": "pld",
        "delta": 1e-5,
        "adjacency": "add-remove",
        "sampler": "poisson",
        "detail": bound.detail,
    }


@pytest.mark.parametrize(
    ("accountant", "epsilon"),
    [("rdp", 1.3027), ("moments", 1.62024), ("advanced", 942.13)],
)
def test_known_values_of_the_other_accountants(accountant: str, epsilon: float, ask: Callable[[str], Any]) -> None:
    answer = ask(f"{RUN} --accountant {accountant}")
    assert answer["epsilon"] == pytest.approx(epsilon, rel=2e-4)
    assert answer["epsilon_lower"] is None
    assert answer["accountant"] == accountant


def test_an_estimate_is_not_sold_as_a_bound(say: Callable[[str], str]) -> None:
    run = "epsilon --accountant fourier --sampling-rate 0.05 --noise-multiplier 4 --steps 100 --delta 1e-6"
    assert say(run).startswith("epsilon about 0.539")


def test_a_value_that_is_not_proved_says_so(say: Callable[[str], str]) -> None:
    assert "not proved" in say(f"{RUN} --accountant advanced")


def test_every_sampler_and_adjacency_reaches_the_library(ask: Callable[[str], Any]) -> None:
    full = ask("epsilon --sampler full --noise-multiplier 5 --steps 10 --delta 1e-5")["epsilon"]
    assert full == pld.epsilon(Repeat(Gaussian(5.0), 10), 1e-5, "add-remove").upper
    closed = ask("epsilon --sampler full --accountant gaussian --noise-multiplier 5 --steps 10 --delta 1e-5")
    assert closed["epsilon"] == pytest.approx(full, rel=1e-12)
    assert closed["epsilon_lower"] == pytest.approx(full, rel=1e-9)
    subset = ask(f"{RUN} --sampler subset --adjacency replace-one")
    assert subset["epsilon"] == pld.epsilon(SUBSET, 1e-5, "replace-one").upper
    assert subset["epsilon_lower"] < subset["epsilon"]


def test_the_largest_order(ask: Callable[[str], Any]) -> None:
    four = rdp.epsilon(POISSON, 1e-5, "add-remove", orders=(1.5, 2.0, 3.0, 4.0)).upper
    assert ask(f"{RUN} --accountant rdp --max-order 4")["epsilon"] == pytest.approx(four)
    assert ask(f"{RUN} --accountant rdp --max-order 100")["epsilon"] == pytest.approx(1.3027, rel=1e-3)
    found = ask(f"{RUN} --accountant moments --max-order 8")["epsilon"]
    assert found == moments.epsilon(POISSON, 1e-5, "add-remove", max_lambda=7).upper
    found = ask(f"{RUN} --accountant wang --sampler subset --adjacency replace-one --max-order 3")["epsilon"]
    assert found == wang.epsilon(SUBSET, 1e-5, "replace-one", max_order=3).upper
