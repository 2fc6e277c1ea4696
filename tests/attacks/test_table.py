"""Attacks on `dpinfer fit`: what it says must hold whatever stands in table and model, however often it runs."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
import pytest

from dpinfer import cli
from dpinfer.accounting.events import CUT
from dpinfer.accounting.ledger import read
from dpinfer.accounting.sound.pld import epsilon
from dpinfer.random.keys import stream
from dpinfer.table import posterior

MODEL = """
import numpyro, numpyro.distributions as dist
def model(x, y=None):
    w = numpyro.sample("w", dist.Normal(0, 3).expand([x.shape[1]]).to_event(1))
    with numpyro.plate("records", len(x)):
        numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)
"""
GUIDE = """
import jax.numpy as jnp
def guide(x, y=None):
    numpyro.sample("w", dist.Delta(numpyro.param("at", {start}), event_dim=1))
"""
TARGET = ["--epsilon", "1", "--delta", "1e-6", "--steps", "5", "--batch", "20"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """A model and a table of 200 records."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)).round(4), columns=["a", "b"])
    frame["y"] = (frame["a"] > 0).astype(int)
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "model.py").write_text(MODEL)
    return ["fit", str(tmp_path / "model.py"), str(tmp_path / "table.csv"), *TARGET]


def test_what_runs_cost_adds_up_wherever_the_records_stand(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledgers = ["--ledgers", str(tmp_path / "ledgers")]
    assert cli.main([*files, *ledgers, "--output", str(tmp_path / "one")]) == 0
    assert "in all with this fit" not in capsys.readouterr().out
    # The same records in another order, under another name.
    moved = tmp_path / "moved.csv"
    frame = pd.read_csv(tmp_path / "table.csv")
    frame[["y", "b", "a"]].iloc[::-1].to_csv(moved, index=False)
    again = [*files[:2], str(moved), *TARGET, *ledgers]
    assert cli.main([*again, "--output", str(tmp_path / "two")]) == 0
    said = capsys.readouterr().out
    assert "have been fitted once before" in said
    told = float(re.findall(r"epsilon ([\d.]+) in all", said)[0])
    booked = [read(path) for path in (tmp_path / "ledgers").glob("*.json")]
    assert len(booked) == 1
    assert len(booked[0].entries) == 2
    total = epsilon(booked[0].event, 1e-6 - 2 * CUT, "add-remove").upper
    assert told == pytest.approx(total, rel=1e-3)
    assert total > 1.2
    third = [*again, "--output", str(tmp_path / "three"), "--budget"]
    assert cli.main([*third, f"{1.01 * total:.3f}"]) == 2
    assert f"but the budget is {1.01 * total:.3f}" in capsys.readouterr().err
    assert not (tmp_path / "three").exists()
    assert cli.main([*third, "5"]) == 0
    # Whole numbers that are spelt otherwise, behind a link.
    frame.astype({"y": float}).to_csv(tmp_path / "spelt.csv", index=False)
    (tmp_path / "link.csv").symlink_to("spelt.csv")
    assert cli.main([*files[:2], str(tmp_path / "link.csv"), *TARGET, *ledgers, "--dry-run"]) == 0
    assert "have been fitted 3 times before" in capsys.readouterr().out
    # A record more is another table, whose ledger begins anew.
    pd.concat([frame, frame[:1]]).to_csv(moved, index=False)
    assert cli.main([*again, "--output", str(tmp_path / "four"), "--budget", "1.5"]) == 0


def test_a_release_is_not_overwritten(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--output", str(tmp_path / "out")]
    assert cli.main([*files, *out]) == 0
    before = (tmp_path / "out/ledger.json").read_bytes()
    assert cli.main([*files, *out]) == 2
    assert "holds a release, whose ledger would be lost: choose another --output" in capsys.readouterr().err
    assert (tmp_path / "out/ledger.json").read_bytes() == before


def test_a_fit_that_is_killed_has_been_paid_for(files: list[str], tmp_path: Path) -> None:
    ledgers = tmp_path / "ledgers"
    long = [*files[:3], "--epsilon", "1", "--delta", "1e-6", "--steps", "1000000", "--ledgers", str(ledgers)]
    with subprocess.Popen([sys.executable, "-m", "dpinfer", *long, "--output", str(tmp_path / "out")]) as running:
        try:
            until(lambda: any(ledgers.glob("*.json")) or running.poll() is not None)
        finally:
            running.kill()
    (booked,) = (read(path) for path in ledgers.glob("*.json"))
    assert 0.99 < booked.sound().upper <= 1
    assert not (tmp_path / "out").exists()


def test_two_fits_at_once_into_one_folder(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, fit = tmp_path / "out", posterior.fit

    def slower(*args: Any) -> Any:
        fitted = fit(*args)
        monkeypatch.setattr(posterior, "fit", fit)
        # The other begins later and ends earlier.
        assert cli.main([*files, "--output", str(out)]) == 0
        return fitted

    monkeypatch.setattr(posterior, "fit", slower)
    assert cli.main([*files, "--output", str(out)]) == 2
    assert "holds a release, whose ledger would be lost" in capsys.readouterr().err


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(1200):
        if is_so():
            return
        time.sleep(0.1)
    pytest.fail("it has not happened in two minutes")


def test_the_first_record_does_not_stand_in_the_release(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for start in ("x[0]", "x.mean(0)"):
        (tmp_path / "model.py").write_text(MODEL + GUIDE.format(start=start))
        assert cli.main([*files, "--output", str(tmp_path / "out")]) == 2
        assert "the parameter at starts from the values of the records" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_numbers_of_64_bits_lie_on_the_grid_as_well(files: list[str], tmp_path: Path) -> None:
    """One step of Adam is a sign; so the ledger and the dtype are what can be looked at from here."""
    (tmp_path / "model.py").write_text("import numpyro\nnumpyro.enable_x64()\n" + MODEL)
    try:
        assert cli.main([*files, "--output", str(tmp_path / "out")]) == 0
    finally:
        jax.config.update("jax_enable_x64", False)
    with np.load(tmp_path / "out/posterior.npz") as draws:
        assert draws["w"].dtype == np.float64
    assert "whole multiples of 2^-" in json.loads((tmp_path / "out/ledger.json").read_text())["generator"]


def test_one_impossible_record_neither_stops_the_run_nor_shows(files: list[str], tmp_path: Path) -> None:
    frame = pd.read_csv(tmp_path / "table.csv").astype({"a": float})
    frame.loc[0, "a"] = 3e38
    frame.to_csv(tmp_path / "table.csv", index=False)
    assert cli.main([*files, "--output", str(tmp_path / "out")]) == 0
    assert np.isfinite(pd.read_csv(tmp_path / "out/parameters.csv")["value"]).all()


def test_the_number_of_records_stands_nowhere_if_another_is_public(files: list[str], tmp_path: Path) -> None:
    for name, options in (("stated", ["--records", "190"]), ("own", [])):
        assert cli.main([*files, *options, "--output", str(tmp_path / name)]) == 0
    stated, own = (json.loads((tmp_path / name / "ledger.json").read_text()) for name in ("stated", "own"))
    rates = [each["entries"][0]["event"]["event"]["sampling_rate"] for each in (stated, own)]
    assert rates == [20 / 190, 20 / 200]
    assert (stated["adjacency"], own["adjacency"]) == ("add-remove", "zero-out")


def test_warnings_are_sentences(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loud = [*files, "--delta", "1e-3", "--batch", "900", "--dry-run", "--output", str(tmp_path / "out")]
    assert cli.main(loud) == 0
    said = capsys.readouterr()
    assert "warning: delta is 0.001, but should be well below 1 / 200 records" in said.err
    assert "200 expected records: all of them, as there are fewer than --batch 900" in said.out
    quiet = [*files, "--epsilon", "0.01", "--output", str(tmp_path / "out")]
    assert cli.main(quiet) == 0
    assert "warning: noise drowns the gradient" in capsys.readouterr().err


def test_no_two_purposes_share_a_key() -> None:
    """With JAX's own keys `split(key, 3)[1]` is `fold_in(key, 1)`: twin and draws shared one."""
    key = jax.random.key(1)
    purposes = ("run", "draws", "check", "twin", "diagnostics", "batches")
    keys = [jax.random.key_data(stream(key, purpose)).tolist() for purpose in purposes]
    split = [jax.random.key_data(own).tolist() for count in (2, 3, 8) for own in jax.random.split(key, count)]
    small = [jax.random.key_data(jax.random.fold_in(key, number)).tolist() for number in range(1000)]
    assert len({tuple(own) for own in keys}) == len(purposes)
    assert not {tuple(own) for own in keys} & {tuple(own) for own in [*split, *small]}
