from collections.abc import Callable
from typing import Any

import pytest

from dpinfer.cli.options import ACCOUNTANTS

RUN = "accountants --sampling-rate 0.05 --noise-multiplier 4 --steps 100 --delta 1e-6"


def test_one_row_for_each_accountant(ask: Callable[[str], Any]) -> None:
    rows = {row["accountant"]: row for row in ask(RUN)}
    assert tuple(rows) == ACCOUNTANTS
    assert rows["pld"]["epsilon"] == pytest.approx(0.5390, abs=1e-4)
    assert rows["pld"]["epsilon_lower"] < rows["fourier"]["epsilon"] <= rows["pld"]["epsilon"]
    assert (
        rows["pld"]["epsilon"] < rows["rdp"]["epsilon"] < rows["moments"]["epsilon"] < rows["advanced"]["epsilon"]
    )
    assert rows["wang"]["refused"] == "The wang bound is for replace-one adjacency, not for add-remove."
    assert rows["gaussian"]["epsilon"] is None


def test_the_table(say: Callable[[str], str]) -> None:
    lines = say(f"{RUN} --sampler subset --adjacency replace-one").splitlines()
    assert lines[0].split() == ["accountant", "epsilon", "lower", "how,", "or", "why", "not"]
    assert [line.split()[0] for line in lines[1:]] == list(ACCOUNTANTS)
    answered = {line.split()[0] for line in lines[1:] if line.split()[1] != "-"}
    assert answered == {"pld", "rdp", "wang"}


def test_the_largest_order_leaves_the_others_alone(ask: Callable[[str], Any]) -> None:
    run = f"{RUN} --sampler subset --adjacency replace-one"
    free, capped = (
        {row["accountant"]: row["epsilon"] for row in ask(f"{run} {cap}")} for cap in ("", "--max-order 2")
    )
    assert capped["rdp"] > free["rdp"]
    assert capped["wang"] > free["wang"]
    assert capped["pld"] == free["pld"]


def test_a_wrong_setting_is_no_table_of_refusals(refuse: Callable[[str], str]) -> None:
    said = refuse("accountants --noise-multiplier 1 --steps 10 --delta 1e-5")
    assert said == "dpinfer accountants: --sampling-rate is missing, but the sampler poisson needs it."
