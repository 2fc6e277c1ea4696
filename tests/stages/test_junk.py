"""Whatever became of an artifact: the stage that reads it says so in one sentence, and writes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpinfer import cli
from dpinfer.accounting import ledger
from dpinfer.accounting.events import PoissonGaussian, Repeat
from dpinfer.accounting.ledger import Ledger
from dpinfer.atomic import read_json
from dpinfer.experiment import CALIBRATED
from junk import QUICK, VALUES, changed, refusal, spoilt

BOOKED = Ledger(adjacency="add-remove", delta=1e-5).spend(Repeat(PoissonGaussian(1.0, 0.01), 10), "fit")
LEDGER = BOOKED.to_dict()
JOB: dict[str, Any] = {
    "experiment": "e", "cell": "c", "arm": "main", "labels": {}, "scale": "smoke", "seed": 0,
    "settings": {
        "data": {"name": "abalone", "standin": True}, "model": {"name": "logistic"}, "method": "descent",
        "num_steps": 3, "seeds": 2, "learning_rate": 1.0, "clip": 1.0, "noise_multiplier": 2.0, "delta": 1e-5,
    },
}  # fmt: skip
Made = dict[str, Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The artifacts of a small cell, made by the stages themselves."""
    folder = tmp_path_factory.mktemp("made")
    paths = {
        name: folder / f"{name}.{kind}"
        for name, kind in (("data", "npz"), ("calibration", "json"), ("fit", "npz"))
    }
    catalogue = Path(__file__).parents[2] / "config/datasets.yaml"
    data = json.dumps(JOB["settings"]["data"])
    assert cli.main(["data", data, "--sources", str(catalogue), "--output", str(paths["data"])]) == 0
    facts = ["--facts", str(folder / "data.json")]
    assert cli.main(["calibrate", json.dumps(JOB), *facts, "--output", str(paths["calibration"])]) == 0
    given = ["--calibration", str(paths["calibration"]), "--data", str(paths["data"])]
    assert cli.main(["fit", *given, "--output", str(paths["fit"])]) == 0
    return paths


def evaluate(made: Made, **others: Path) -> int:
    """Evaluate the cell, with other files in place of some; a metrics file is written only if that succeeds."""
    paths = made | others
    cell = [str(paths[name]) for name in ("calibration", "data", "fit")]
    output = made["fit"].with_name("metrics.csv")
    output.unlink(missing_ok=True)
    code = cli.main(["evaluate", "--cell", *cell, "--metrics", "accuracy", "--output", str(output)])
    assert output.exists() == (code == 0)
    return code


def test_what_is_right_is_read(made: Made) -> None:
    assert evaluate(made) == 0


@pytest.mark.parametrize("name", ["data", "calibration", "fit"])
@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"{}\n", b"[]\n", b"null\n", b"\x93NUMPY"])
def test_a_file_of_another_kind_gets_its_sentence(
    made: Made, name: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / made[name].name
    other.write_bytes(content)
    (tmp_path / "ledger.json").write_bytes(made["fit"].with_name("ledger.json").read_bytes())
    assert evaluate(made, **{name: other}) == 2
    assert f"dpinfer evaluate: {other} " in capsys.readouterr().err


@pytest.mark.parametrize("key", CALIBRATED)
def test_a_calibration_that_lacks_something_gets_its_sentence(
    made: Made, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "calibration.json"
    other.write_text(
        json.dumps({name: value for name, value in read_json(made["calibration"]).items() if name != key})
    )
    assert evaluate(made, calibration=other) == 2
    assert f"{other} is not a calibration written by this package: it has no {key}" in capsys.readouterr().err


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
