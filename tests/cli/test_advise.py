import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from scipy.stats import norm

from dpinfer.accounting.events import PoissonGaussian, Repeat
from dpinfer.accounting.sound import gaussian, pld

SMALL = "advise --records 1000 --batch 50 --steps 40 --noise-multiplier 1 4 --epsilon 1"
CLOSED = "advise --records 1000 --sampler full --steps 1 --noise-multiplier 2 1 --epsilon 2"


def test_the_table_of_epsilons(ask: Callable[[str], Any]) -> None:
    answer = ask(SMALL)
    assert answer["design"] == {
        "records": 1000,
        "batch": 50,
        "num_steps": 40,
        "sampling_rate": 0.05,
        "sampler": "poisson",
        "adjacency": "add-remove",
        "delta": 1e-4,
    }
    assert answer["warnings"] == []
    cells = {(row["noise_multiplier"], row["num_steps"]): row["epsilon"] for row in answer["epsilons"]}
    assert set(cells) == {(noise, count) for noise in (1.0, 4.0) for count in (10, 40, 160)}
    for (noise, count), epsilon in cells.items():
        assert epsilon == pld.epsilon(Repeat(PoissonGaussian(noise, 0.05), count), 1e-4, "add-remove").upper


def test_an_attacker_against_one_full_gaussian_release(ask: Callable[[str], Any]) -> None:
    (row,) = ask(CLOSED)["attacker"]
    mu = 1.0 / row["noise_multiplier"]
    assert row["epsilon"] == pytest.approx(gaussian.epsilon_of(1e-4, mu), rel=1e-9)
    assert row["epsilon"] <= row["target_epsilon"]
    for rate, found in row["true_positive_rate"].items():
        exact = float(norm.cdf(norm.ppf(float(rate)) + mu))
        assert exact * (1.0 - 1e-9) <= found <= exact * 1.05
    factor = row["true_positive_rate"]["0.001"] / 0.001
    assert row["posterior_odds"] == pytest.approx({"1:1": factor, "1:100": factor / 100.0})


def test_an_attacker_against_sampled_steps(ask: Callable[[str], Any]) -> None:
    """The bound of the one pair (epsilon, delta) of the budget is never better than that of the profile."""
    (row,) = ask(SMALL)["attacker"]
    for rate, found in row["true_positive_rate"].items():
        assert float(rate) < found < 2.718281829 * float(rate) + 1e-4


def test_in_words(say: Callable[[str], str]) -> None:
    lines = say(CLOSED).splitlines()
    assert lines[0] == "1000 records, all at every step, add-remove, delta 0.0001, 1 steps (1 epochs)"
    assert lines[3].split() == ["noise", "1", "steps", "4", "steps"]
    assert [line.split()[0] for line in lines[4:6]] == ["1", "2"]
    # Printed epsilons are rounded up.
    assert float(lines[5].split()[1]) >= gaussian.epsilon_of(1e-4, 0.5)
    assert re.fullmatch(r" +2  +[\d.]+  +[\d.]+ %  +[\d.]+ %  +[\d.]+ %  +[\d.]+:1  +1:[\d.]+", lines[-1])


def test_what_is_not_given_is_filled_in(ask: Callable[[str], Any]) -> None:
    design = ask("advise --records 900 --noise-multiplier 4 --epsilon 1")["design"]
    assert (design["batch"], design["num_steps"], design["delta"]) == (30, 300, pytest.approx(1 / 9000))
    design = ask("advise --records 100 --batch 30 --epochs 0.9 --noise-multiplier 4 --epsilon 1")["design"]
    assert design["num_steps"] == 3


@pytest.mark.parametrize(("delta", "is_warned"), [("0.00099", False), ("0.001", True), ("0.01", True)])
def test_a_large_delta_is_warned_of(delta: str, is_warned: bool, say: Callable[[str], str]) -> None:
    said = say(f"{CLOSED} --delta {delta}")
    assert (f"Warning: delta {delta} is not below 1 / records = 0.001: " in said) == is_warned


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_the_plot(suffix: str, start: bytes, tmp_path: Path, say: Callable[[str], str]) -> None:
    path = tmp_path / f"tradeoff{suffix}"
    say(f"{CLOSED} --plot {path}")
    assert path.read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    if suffix == ".png":
        with Image.open(path) as picture:
            assert picture.width == 680
