from collections.abc import Callable
from typing import Any

import pytest

from dpinfer.accounting.events import PoissonGaussian, Repeat
from dpinfer.accounting.sound import pld

RUN = "steps --epsilon 1 --delta 1e-5 --sampling-rate 0.01 --noise-multiplier 4"


def test_the_most_steps_in_words_and_as_json(say: Callable[[str], str], ask: Callable[[str], Any]) -> None:
    answer = ask(RUN)
    count = answer["num_steps"]
    step = PoissonGaussian(4.0, 0.01)
    assert answer["epsilon"] == pld.epsilon(Repeat(step, count), 1e-5, "add-remove").upper <= 1.0
    assert pld.epsilon(Repeat(step, count + 1), 1e-5, "add-remove").upper > 1.0
    first, second, _ = say(RUN).splitlines()
    assert first == f"{count} steps"
    assert second.startswith("epsilon <= ")


def test_full_batches_have_a_closed_form(ask: Callable[[str], Any]) -> None:
    """The separation after T steps is sqrt(T) / sigma: four times the noise allows sixteen times the steps."""
    run = "steps --sampler full --accountant gaussian --epsilon 1 --delta 1e-5 --noise-multiplier"
    one, four = (ask(f"{run} {noise}")["num_steps"] for noise in (20, 80))
    assert four == pytest.approx(16 * one, abs=16)


def test_where_the_search_ends(say: Callable[[str], str]) -> None:
    said = say("steps --sampler full --epsilon 1 --delta 1e-5 --noise-multiplier 1e8")
    assert said.startswith("1000000000 steps, and more: the search ends here\n")


def test_not_even_one_step(refuse: Callable[[str], str]) -> None:
    said = refuse("steps --sampler full --epsilon 1 --delta 1e-5 --noise-multiplier 0.1")
    assert said.startswith("dpinfer steps: The target epsilon 1 cannot be reached: ")
