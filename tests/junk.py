"""Wrong input for tests: values that nobody should write, and changes to what somebody wrote rightly."""

import copy
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from dpinfer.errors import InputError

QUICK = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=150,
    # What a test writes, the next example writes anew.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["", "x", "inf", "1e5", "../..", "a b", "\0", "é"]),
    st.builds(list),
    st.builds(dict),
    st.builds(lambda: [None, "a"]),
    st.builds(lambda: {"name": 1}),
)
NUMBERS = st.sampled_from(
    ["-1", "nan", "inf", "many", "1e99", "", "1e-400", "0x10", "½", "1,5", "--", "-", "1e5000"]
)
"""Words that are no number of anything that a command asks for."""


@st.composite
def changed(draw: st.DrawFn, content: Any) -> Any:
    """Plain data with one or two places set to junk, left out, or with a key too many."""
    result = copy.deepcopy(content)
    for _ in range(draw(st.integers(1, 2))):
        *sections, last = draw(st.sampled_from(_places(result)[1:]))
        table = result
        for section in sections:
            table = table[section]
        match draw(st.sampled_from(["set", "set", "drop", "add"])):
            case "set":
                table[last] = draw(VALUES)
            case "drop" if len(result) > 1:
                del table[last]
            case _ if isinstance(table, dict):
                table[draw(st.sampled_from(["spare", "data.x", "", "."]))] = draw(VALUES)
    return result


@st.composite
def spoilt(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes that were cut, overwritten in one place, or replaced altogether."""
    at = draw(st.integers(0, len(content) - 1))
    some = draw(st.binary(min_size=1, max_size=6))
    return draw(st.sampled_from([content[:at], content[:at] + some + content[at + len(some) :], some]))


def _places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = dict(enumerate(content)) if isinstance(content, list) else content if isinstance(content, dict) else {}
    return [path, *(place for key, value in inner.items() for place in _places(value, (*path, key)))]


def refusal(function: Callable[[], object]) -> str | None:
    """The sentence by which a call is refused, or None if it is not; any other error is the test's failure."""
    try:
        function()
    except InputError as error:
        return str(error)
    return None
