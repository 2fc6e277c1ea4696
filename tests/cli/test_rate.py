from collections.abc import Callable
from typing import Any

import pytest

RUN = "--noise-multiplier 4 --steps 1000 --delta 1e-5"


@pytest.mark.parametrize("options", ["", "--sampler subset --adjacency replace-one", "--accountant rdp"])
def test_the_printed_rate_keeps_the_budget(
    options: str, say: Callable[[str], str], ask: Callable[[str], Any]
) -> None:
    first, second, _ = say(f"rate --epsilon 0.7 {RUN} {options}").splitlines()
    printed = first.removeprefix("sampling rate ")
    assert second.startswith("epsilon <= 0.69")
    assert 0.699 <= ask(f"epsilon --sampling-rate {printed} {RUN} {options}")["epsilon"] <= 0.7


def test_as_json_in_full_precision(ask: Callable[[str], Any]) -> None:
    answer = ask(f"rate --epsilon 0.7 {RUN}")
    assert set(answer) == {
        "sampling_rate",
        "epsilon",
        "epsilon_lower",
        "accountant",
        "delta",
        "adjacency",
        "sampler",
        "detail",
    }
    assert len(repr(answer["sampling_rate"])) > 10
    assert 0.6999 <= answer["epsilon"] <= 0.7


def test_whole_batches(say: Callable[[str], str], ask: Callable[[str], Any]) -> None:
    run = f"rate --epsilon 0.7 {RUN} --records 1234"
    answer = ask(run)
    assert answer["sampling_rate"] == answer["batch"] / 1234
    assert answer["epsilon"] <= 0.7
    more = ask(f"epsilon {RUN} --sampling-rate {(answer['batch'] + 1) / 1234}")
    assert more["epsilon"] > 0.7
    assert f": a batch of {answer['batch']} of 1234 records\n" in say(run)


def test_a_budget_that_allows_every_record(ask: Callable[[str], Any]) -> None:
    run = "rate --epsilon 100 --noise-multiplier 4 --steps 10 --delta 1e-5 --records 50"
    assert ask(run)["batch"] == 50


def test_a_budget_below_one_record(refuse: Callable[[str], str]) -> None:
    said = refuse("rate --epsilon 0.01 --noise-multiplier 1 --steps 100 --delta 1e-5 --records 100")
    assert said.endswith("less than one of 100 records.")
