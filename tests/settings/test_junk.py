"""Whatever is written into an experiment's file: it is understood, or refused with one sentence."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junk import QUICK, changed, refusal, spoilt
from pipeline.settings.experiment import Experiment, cross
from pipeline.settings.yaml import parse, read

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "config/experiments").glob("*/*.yaml"))
EXPERIMENTS = [read(path) for path in FILES]
FILE = Path("experiment.yaml")


def read_cells(raw: Any) -> None:
    experiment = parse(Experiment, raw, FILE)
    cross(FILE, experiment, "smoke")
    cross(FILE, experiment, "paper")


def is_sentence(said: str | None, path: Path) -> bool:
    return said is None or (said.startswith(f"{path}: ") and "\n" not in said)


def test_what_is_right_is_understood() -> None:
    assert all(refusal(partial(read_cells, raw)) is None for raw in EXPERIMENTS)


@QUICK
@given(st.sampled_from(EXPERIMENTS).flatmap(changed))
def test_no_change_ends_in_anything_but_a_sentence(raw: Any) -> None:
    assert is_sentence(refusal(partial(read_cells, raw)), FILE)


@QUICK
@given(content=spoilt(FILES[0].read_bytes()))
def test_no_bytes_end_in_anything_but_a_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_bytes(content)
    assert is_sentence(refusal(lambda: parse(Experiment, read(path), path)), path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"a: \xff", "the file is not text in UTF-8"),
        (b"a: !!int x", "this is not valid YAML: "),
        (b"a: !!float x", "this is not valid YAML: "),
        (b"a: *b", "this is not valid YAML: "),
        (b"? [a]\n: 1", "a key is no word: "),
    ],
)
def test_what_the_parser_trips_over_gets_its_sentence(text: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_bytes(text)
    said = refusal(lambda: parse(Experiment, read(path), path))
    assert said is not None
    assert said.startswith(f"{path}: {sentence}")
