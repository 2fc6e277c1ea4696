"""Whatever became of an artifact: the stage that reads it says so in one sentence, and writes nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cells import Cell
from dpinfer.accounting import ledger
from dpinfer.accounting.events import PoissonGaussian, Repeat
from dpinfer.accounting.ledger import Ledger
from dpinfer.atomic import read_json
from junk import QUICK, VALUES, changed, refusal, spoilt
from pipeline import cli
from pipeline.experiment import FITTED
from pipeline.shards import digest_of_file

BOOKED = Ledger(adjacency="add-remove", delta=1e-5).spend(Repeat(PoissonGaussian(1.0, 0.01), 10), "fit")
LEDGER = BOOKED.to_dict()
SETTINGS: dict[str, Any] = {
    "data": {"name": "abalone", "standin": True}, "model": {"name": "logistic"}, "method": "descent",
    "num_steps": 3, "seeds": 2, "learning_rate": 1.0, "clip": 1.0, "epsilon": 20.0, "delta": 1e-5,
}  # fmt: skip
# What is read of each artifact by which stage.
READ = {
    "facts": "calibrate",
    "calibration": "fit",
    "data": "fit",
    "stamp": "account",
    "account": "evaluate",
    "fit": "evaluate",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    """A small cell, made by the stages themselves."""
    cell = Cell(tmp_path_factory.mktemp("made"), "e", SETTINGS, calibrated=True, metrics=["accuracy"])
    catalogue = Path(__file__).parents[2] / "config/datasets.yaml"
    output = ["--sources", str(catalogue), "--output", str(cell.artifacts.data("data"))]
    assert cli.main(["data", json.dumps(SETTINGS["data"]), *output]) == 0
    cell.make("calibrate", "fit", "account", "evaluate")
    return cell


def path_of(cell: Cell, name: str) -> Path:
    names = ("data",) if name in ("data", "facts") else cell.names
    path: Path = getattr(cell.artifacts, name)(*names)
    return path


@contextmanager
def spoiling(cell: Cell, name: str, content: bytes) -> Iterator[Path]:
    """Put something else in the place of an artifact, for a while."""
    path, before = path_of(cell, name), path_of(cell, name).read_bytes()
    path.write_bytes(content)
    # Within one process a file is taken not to change.
    digest_of_file.cache_clear()
    yield path
    path.write_bytes(before)
    digest_of_file.cache_clear()


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"{}\n", b"[]\n", b"null\n", b"\x93NUMPY"])
def test_a_file_of_another_kind_gets_its_sentence_and_nothing_is_written(
    made: Cell, name: str, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    output = made.output(READ[name])
    output.unlink(missing_ok=True)
    with spoiling(made, name, content) as path:
        assert made.code(READ[name]) == 2
    said = capsys.readouterr().err
    assert f"main: {path} " in said
    assert "Traceback" not in said
    assert not output.exists()
    made.make(READ[name])


@pytest.mark.parametrize("key", FITTED)
def test_the_stamp_of_a_fit_that_lacks_something_gets_its_sentence(
    made: Cell, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content = read_json(path_of(made, "stamp"))
    del content[key]
    # As another identity is told, the cell is evaluated again.
    content["identity"] = key
    with spoiling(made, "stamp", json.dumps(content).encode()) as path:
        assert made.code("evaluate") == 2
    assert f"{path} is not the stamp of a fit written by this package: it has no {key}" in capsys.readouterr().err


@QUICK
@given(content=st.one_of(changed(LEDGER), VALUES))
def test_no_ledger_ends_in_anything_but_a_sentence(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    refuse_or_read(path)


@QUICK
@given(content=spoilt(json.dumps(LEDGER).encode()))
def test_no_bytes_of_a_ledger_do(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_bytes(content)
    refuse_or_read(path)


def refuse_or_read(path: Path) -> None:
    said = refusal(lambda: ledger.read(path))
    assert said is None or (str(path) in said and "\n" not in said)
