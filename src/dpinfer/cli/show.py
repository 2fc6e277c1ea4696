"""Answers as text: numbers rounded to the safe side, sentences, tables, JSON."""

import decimal
import math
from collections.abc import Sequence
from typing import Any

from dpinfer.accounting.base import Bound
from dpinfer.atomic import to_json
from dpinfer.cli.options import Setting

DIGITS = 5


def up(value: float, digits: int = DIGITS) -> str:
    """Write a number with that many significant digits, never below it."""
    return _rounded(value, digits, decimal.ROUND_CEILING)


def down(value: float, digits: int = DIGITS) -> str:
    """Write a number with that many significant digits, never above it."""
    return _rounded(value, digits, decimal.ROUND_FLOOR)


def next_up(text: str) -> str:
    """Raise a number written by `up` by one in its last digit."""
    return _written(decimal.Context(prec=DIGITS).next_plus(decimal.Decimal(text)), DIGITS)


def next_down(text: str) -> str:
    """Lower a number written by `down` by one in its last digit."""
    return _written(decimal.Context(prec=DIGITS).next_minus(decimal.Decimal(text)), DIGITS)


def _rounded(value: float, digits: int, rounding: str) -> str:
    if math.isinf(value):
        return "inf"
    # The shortest decimal that reads back as the value: 0.1 stays 0.1, whatever its binary digits are.
    context = decimal.Context(prec=digits, rounding=rounding)
    return _written(context.create_decimal(repr(float(value))), digits)


def _written(value: decimal.Decimal, digits: int) -> str:
    return f"{float(value):.{digits}g}"


def epsilon(bound: Bound) -> str:
    """Write an epsilon for what it is: a bound, or the estimate of the Fourier accountant."""
    return f"epsilon {'about' if bound.accountant == 'fourier' else '<='} {up(bound.upper)}"


def answer(setting: Setting, bound: Bound) -> str:
    """Write a bound, its lower bound and how it came about in two lines."""
    below = "" if bound.lower is None else f"; no sound accountant can claim less than {down(bound.lower)}"
    return f"{epsilon(bound)} at delta {up(setting.delta)}{below}\n{basis(setting, bound)}"


def basis(setting: Setting, bound: Bound) -> str:
    """Write what a bound rests on."""
    return f"({bound.accountant}, sampler {setting.sampler}, {setting.adjacency}: {bound.detail})"


def json(content: Any) -> str:
    """Write plain data as JSON."""
    return to_json(content, indent=2)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] = ()) -> str:
    """Write aligned columns: numbers to the right, the columns `words` to the left."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def cell(column: int, text: str) -> str:
        return text.ljust(widths[column]) if column in words else text.rjust(widths[column])

    return "\n".join("  ".join(cell(*pair) for pair in enumerate(line)).rstrip() for line in lines)
