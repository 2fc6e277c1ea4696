"""YAML files read by the C library: they say what ruamel.yaml reads in them."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from checkout import ROOT
from pipeline.settings.yaml import _loaded

FILES = sorted((ROOT / "config").rglob("*.yaml"))
ODD = (
    "a: 1e-6", "a: 1e5", "a: 6.02e+23", "a: .5", "a: 1.", "a: .inf", "a: -.inf", "a: .nan", "a: 012", "a: 08",
    "a: -012", "a: 0o17", "a: 0o8", "a: 0x1F", "a: 0b11", "a: 1_000", "a: 0.1_5", "a: 1:30", "a: yes", "a: on",
    "a: True", "a: ~", "a: null", "null: 1", "true: 1", "a: 2020-01-01", 'a: "1"', 'a: !!int "3"', "a: !!float 3",
    "a: {b: &c 1, d: *c}", "a: &b {c: 1}\nd: {<<: *b, e: 2}", "%YAML 1.1\n---\na: yes", "- 1", "", '1: 2\n"1": 3',
)  # fmt: skip
WRONG = (
    "a: 1\na: 2", "1.0: 1\n1: 2", "- {a: 1, a: 2}", "a: *b", "a: !foo 1", "a: 1\n---\nb: 2", "a: [1",
    "a: !!bool x",
)  # fmt: skip


def by_ruamel(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_of_the_project_reads_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert repr(_loaded(text)) == repr(by_ruamel(text))


@pytest.mark.parametrize("text", ODD)
def test_odd_values_read_the_same(text: str) -> None:
    assert repr(_loaded(text)) == repr(by_ruamel(text))


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_told_in_the_same_words(text: str) -> None:
    with pytest.raises((YAMLError, ValueError, KeyError)) as wanted:
        by_ruamel(text)
    with pytest.raises(type(wanted.value)) as found:
        _loaded(text)
    assert str(found.value) == str(wanted.value)
