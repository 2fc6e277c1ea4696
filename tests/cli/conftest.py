"""How the tests of the commands call them."""

from collections.abc import Callable
from typing import Any

import pytest

from dpinfer import cli
from dpinfer.atomic import from_json

Say = Callable[[str], str]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command that must succeed, and return what it prints."""

    def run(line: str) -> str:
        assert cli.main(line.split()) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    return run


@pytest.fixture
def ask(say: Say) -> Callable[[str], Any]:
    """Run a command for its JSON."""
    return lambda line: from_json(say(f"{line} --json"))


@pytest.fixture
def refuse(capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command that must fail with exit code 2, and return the sentence it ends with."""

    def run(line: str) -> str:
        try:
            code: object = cli.main(line.split())
        except SystemExit as ended:
            code = ended.code
        captured = capsys.readouterr()
        assert code == 2
        assert captured.out == ""
        return captured.err.rstrip("\n").rpartition("\n")[2]

    return run
