"""Whatever is asked about privacy: what is no number gets one sentence and exit code 2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpinfer import cli
from junk import NUMBERS, QUICK

GOOD = {
    "sampling-rate": "0.01", "noise-multiplier": "1.1", "steps": "10", "delta": "1e-5", "epsilon": "1",
    "records": "1000", "batch": "10", "epochs": "1", "max-order": "20",
}  # fmt: skip
OPTIONS = {
    "epsilon": ["sampling-rate", "noise-multiplier", "steps", "delta", "max-order"],
    "noise": ["epsilon", "sampling-rate", "steps", "delta", "max-order"],
    "steps": ["epsilon", "sampling-rate", "noise-multiplier", "delta", "max-order"],
    "rate": ["epsilon", "noise-multiplier", "steps", "delta", "records"],
    "accountants": ["sampling-rate", "noise-multiplier", "steps", "delta", "max-order"],
    "barker": ["batch", "records", "steps", "delta", "max-order"],
    "advise": ["records", "batch", "epochs", "noise-multiplier", "epsilon", "delta"],
}


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """A command with at least one value that is no number, and perhaps something left out."""
    verb = draw(st.sampled_from(sorted(OPTIONS)))
    wrong = draw(st.sampled_from(OPTIONS[verb]))
    missing = draw(st.sampled_from([None, *OPTIONS[verb]]))
    line = [verb]
    for name in OPTIONS[verb]:
        value = draw(NUMBERS) if name == wrong else GOOD[name]
        if name == wrong or name != missing:
            line += [f"--{name}={value}"] if draw(st.booleans()) else [f"--{name}", value]
    return line


@QUICK
@given(line=lines())
def test_no_line_ends_in_anything_but_a_sentence(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: object = cli.main(line)
    except SystemExit as ended:
        code = ended.code
    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert said.err.rstrip("\n").rpartition("\n")[2].startswith(f"dpinfer {line[0]}: ")
