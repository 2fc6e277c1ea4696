from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from dpinfer.atomic import write_json
from pipeline.recovery import damaged, is_dry_run, set_aside


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Whole artifacts of every kind, as the stages write them."""
    for name in ("fits", "metrics", "figures"):
        (tmp_path / name).mkdir()
    np.savez(tmp_path / "fits/fit.npz", state=np.arange(1000.0))
    write_json(tmp_path / "fits/stamp.json", {"seconds": 1.0})
    pd.DataFrame({"value": [1.0, 2.0]}).to_csv(tmp_path / "metrics/some.csv", index=False)
    for kind in ("pdf", "png"):
        Figure().savefig(tmp_path / f"figures/some.{kind}")
    (tmp_path / "report.html").write_text("<html></html>", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "dry"),
    [
        ("-n", True), ("-np --cores 2", True), ("--dry-run", True), ("--cores 2 --config scale=smoke", False),
        ("--keep-going -j 2 results/n", False),
    ],
)  # fmt: skip
def test_a_dry_run_is_told_from_a_run(line: str, dry: bool) -> None:
    assert is_dry_run(line.split()) == dry


def test_what_is_whole_is_left_alone(results: Path) -> None:
    assert list(damaged(results)) == []


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_what_lacks_its_end_is_found(results: Path, share: float) -> None:
    files = [path for path in results.rglob("*") if path.is_file()]
    for path in files:
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert set(damaged(results)) == set(files)


def test_what_is_no_artifact_is_left_alone(results: Path) -> None:
    for name in ("notes.md", "own.json", "figures/.some.1.png"):
        (results / name).write_text("mine", encoding="utf-8")
    assert list(damaged(results)) == []


def test_what_is_set_aside_is_kept_and_not_found_again(results: Path) -> None:
    path = results / "fits/stamp.json"
    path.write_text("{", encoding="utf-8")
    aside = set_aside(path)
    assert not path.exists()
    assert aside.read_text(encoding="utf-8") == "{"
    assert list(damaged(results)) == []
