"""Types of command-line values: text in, a checked number out, or a sentence that says what is allowed."""

import argparse
import math

# Beyond these ends no accountant has been tried.
LEAST_NOISE, MOST_NOISE = 1e-2, 1e9
LEAST_RATE = 1e-12
MOST_COUNT = 10**9
LEAST_DELTA = 1e-30
# The cost of a moment grows with its order, and no bound gains beyond this.
MOST_ORDER = 10_000


def positive(text: str) -> float:
    """Read a positive finite number."""
    value = _number(text)
    if not 0.0 < value < math.inf:
        raise _wrong(text, "must be a positive finite number")
    return value


def noise(text: str) -> float:
    """Read a noise multiplier."""
    value = _number(text)
    if not LEAST_NOISE <= value <= MOST_NOISE:
        raise _wrong(text, f"must be a number between {LEAST_NOISE:g} and {MOST_NOISE:g}")
    return value


def rate(text: str) -> float:
    """Read a sampling rate."""
    value = _number(text)
    if not LEAST_RATE <= value <= 1.0:
        raise _wrong(text, f"must lie in (0, 1], and not below {LEAST_RATE:g}")
    return value


def delta(text: str) -> float:
    """Read a delta."""
    value = _number(text)
    if not LEAST_DELTA <= value < 1.0:
        raise _wrong(text, f"must lie strictly between 0 and 1, and not below {LEAST_DELTA:g}")
    return value


def share(text: str) -> float:
    """Read a probability."""
    value = _number(text)
    if not 0.0 < value < 1.0:
        raise _wrong(text, "must lie strictly between 0 and 1")
    return value


def seed(text: str) -> int:
    """Read a seed of random numbers."""
    value = _whole(text)
    if value is None or not 0 <= value < 2**32:
        raise _wrong(text, f"must be a whole number from 0 to {2**32 - 1}")
    return value


def count(text: str) -> int:
    """Read a number of steps or records; 1e5 is as good as 100000."""
    value = _whole(text)
    if value is None or not 1 <= value <= MOST_COUNT:
        raise _wrong(text, f"must be a whole number between 1 and {MOST_COUNT}")
    return value


def order(text: str) -> int:
    """Read the largest order of an accountant that has orders."""
    value = _whole(text)
    if value is None or not 2 <= value <= MOST_ORDER:
        raise _wrong(text, f"must be a whole number between 2 and {MOST_ORDER}")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _wrong(text, "must be a number") from None


def _whole(text: str) -> int | None:
    value = _number(text)
    return int(value) if value.is_integer() else None


def _wrong(text: str, allowed: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"is {text!r}, but {allowed}")
