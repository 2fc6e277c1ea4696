import math

import numpy as np
import pytest

from dpinfer.cli import show


@pytest.mark.parametrize(
    ("value", "above", "below"),
    [
        (0.1, "0.1", "0.1"),
        (1e-5, "1e-05", "1e-05"),
        (1.130230066, "1.1303", "1.1302"),
        (0.0000123456, "1.2346e-05", "1.2345e-05"),
        (99999.1, "1e+05", "99999"),
        (0.0, "0", "0"),
        (math.inf, "inf", "inf"),
    ],
)
def test_rounding_by_hand(value: float, above: str, below: str) -> None:
    assert show.up(value) == above
    assert show.down(value) == below


def test_rounding_never_crosses_the_value() -> None:
    generator = np.random.default_rng(0)
    for value in 10.0 ** generator.uniform(-12, 9, size=2000):
        for digits in (3, 4, 5):
            above, below = float(show.up(value, digits)), float(show.down(value, digits))
            assert below <= value <= above
            assert above - below <= 1.001 * value * 10.0 ** (1 - digits)


def test_the_next_number_is_one_more_in_the_last_digit() -> None:
    assert show.next_up("3.8132") == "3.8133"
    assert show.next_up("3.8") == "3.8001"
    assert show.next_up("0.99999") == "1"
    assert show.next_down("0.0105") == "0.010499"
    assert show.next_down("1") == "0.99999"


def test_a_table_is_aligned() -> None:
    text = show.table(("name", "n"), [("a", "10"), ("long name", "5")], words=(0,))
    assert text.splitlines() == ["name        n", "a          10", "long name   5"]
