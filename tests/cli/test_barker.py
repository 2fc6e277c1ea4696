from collections.abc import Callable
from typing import Any

import pytest

from dpinfer.accounting.events import Barker, Repeat
from dpinfer.accounting.sound import barker, pld

RUN = "barker --batch 1000 --records 1000000 --steps 5000 --delta 1e-6"
CHAIN = Repeat(Barker(1000, 10**6), 5000)


def test_the_three_bounds_as_json(ask: Callable[[str], Any]) -> None:
    theorem, certified, tight = ask(RUN)
    assert [row["bound"] for row in (theorem, certified, tight)] == ["theorem", "certified", "pld"]
    assert theorem["epsilon"] == pytest.approx(0.4994, abs=5e-5)
    assert tight["epsilon"] == pld.epsilon(CHAIN, 1e-6, "replace-one").upper
    assert tight["epsilon"] < certified["epsilon"] < theorem["epsilon"]


def test_in_words(say: Callable[[str], str]) -> None:
    title, _, theorem, certified, tight = say(RUN).splitlines()
    assert title == "5000 tests, sampling rate 0.001, delta 1e-06, replace-one"
    assert theorem.split()[:3] == ["theorem", "0.49943", "theorem,"]
    assert certified.startswith("certified ")
    assert tight.startswith("pld ")


def test_the_largest_order_is_for_both_renyi_bounds(ask: Callable[[str], Any]) -> None:
    theorem, certified, _ = ask(f"{RUN} --max-order 20")
    assert theorem["epsilon"] == barker.epsilon(CHAIN, 1e-6, "replace-one", max_order=20).upper
    capped = barker.epsilon(CHAIN, 1e-6, "replace-one", method="certified", max_order=20).upper
    assert certified["epsilon"] == capped


def test_a_small_batch_gets_reasons(say: Callable[[str], str], ask: Callable[[str], Any]) -> None:
    theorem, certified, tight = ask("barker --batch 12 --records 1000 --steps 10 --delta 1e-6")
    assert theorem["epsilon"] is None
    assert "too small" in theorem["refused"]
    assert certified["epsilon"] > tight["epsilon"] > 0.0
    assert say("barker --batch 4 --records 1000 --steps 10 --delta 1e-6").count(" - ") == 3


def test_more_batch_than_records(refuse: Callable[[str], str]) -> None:
    said = refuse("barker --batch 11 --records 10 --steps 10 --delta 1e-6")
    assert said == "dpinfer barker: Barker: batch is 11, but there are only 10 records."
