"""A chain goes from calibration to metrics: what it is given, what it pays for, and what is read back of it."""

import argparse
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
import pytest

from dpinfer.accounting.ledger import read as read_ledger
from dpinfer.atomic import read_json, to_json, write_json
from dpinfer.data.base import Dataset, save
from dpinfer.experiment import open_cell
from dpinfer.inference.correction import Correction, to_dict
from dpinfer.stages import calibrate, evaluate, fit

X = np.random.default_rng(0).normal(0.5, 1.5, 300)
MIXTURE = Correction(np.zeros(1), np.ones(1), np.ones(1))
SHARED = {"data": {"name": "two_modes"}, "model": {"name": "two_modes"}, "adjacency": "replace-one"}
START: dict[str, Any] = {
    **SHARED, "method": "dpvi", "sampler": "subset", "expected_batch": 10, "clip": 1.0, "num_steps": 20,
    "noise_multiplier": 10.0, "delta": 1e-6, "accountant": "moments",
    "claimed": {"sampler": "poisson", "adjacency": "add-remove", "options": {"max_lambda": 64}},
}  # fmt: skip
CHAIN: dict[str, Any] = {
    **SHARED, "method": "barker", "batch": 50, "tempered_records": 50, "proposal_variance": 0.01, "num_steps": 40,
    "burn_in": 10, "record_every": 10, "seeds": 2, "delta": 2e-6, "accountant": "barker",
    "claimed": {"delta": 1e-6, "options": {"method": "theorem", "max_order": 100}},
    "start_from": {"experiment": "start", "cell": "main"},
}  # fmt: skip


def run(folder: Path, name: str, settings: dict[str, Any], **given: Any) -> Path:
    """Calibrate and fit in a folder; returns the folder of the cell."""
    here = folder / name
    here.mkdir()
    write_json(folder / "facts.json", {"shapes": {"train": {"x": [len(X)]}}})
    save(folder / "data.npz", Dataset({"x": X}, {}, {}))
    job = {
        "experiment": name, "cell": "main", "arm": "main", "labels": {}, "scale": "smoke", "seed": 0,
        "settings": settings,
    }  # fmt: skip
    options = {"correction": None, "start": None, "code": "none"} | given
    calibrate.main(
        argparse.Namespace(
            job=to_json(job), facts=folder / "facts.json", output=here / "calibration.json", **options
        )
    )
    fit.main(
        argparse.Namespace(
            calibration=here / "calibration.json", data=folder / "data.npz", output=here / "fit.npz", code="none"
        )
    )
    return here


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain")
    start = run(folder, "start", START)
    write_json(folder / "correction.json", {"mixture": to_dict(MIXTURE)})
    given = [start / "calibration.json", folder / "data.npz", start / "fit.npz"]
    return run(folder, "chain", CHAIN, correction=folder / "correction.json", start=given)


def test_a_chain_starts_where_the_earlier_run_ended_and_pays_for_it(chain: Path) -> None:
    cell = open_cell(chain / "calibration.json", chain.parent / "data.npz")
    earlier = fit.load(
        chain.parent / "start/fit.npz",
        open_cell(chain.parent / "start/calibration.json", chain.parent / "data.npz").algorithm,
        {"x": X},
    )
    at = cell.algorithm.init(jax.random.key(5), {"x": jax.numpy.asarray(X)}).parameters
    np.testing.assert_array_equal(at, earlier.state.guide["loc"][0])
    booked, start = read_ledger(chain / "ledger.json"), read_ledger(chain.parent / "start/ledger.json")
    assert [entry.what for entry in booked.entries] == ["dpvi", "barker"]
    paper, start_paper = booked.paper(), start.paper()
    assert paper is not None
    assert start_paper is not None
    alone = booked.claims[1].epsilon()
    assert paper == pytest.approx(alone + start_paper)
    assert booked.sound().upper > start.sound().upper


def test_what_was_recorded_is_read_back_as_it_was(chain: Path) -> None:
    cell = open_cell(chain / "calibration.json", chain.parent / "data.npz")
    done = fit.load(chain / "fit.npz", cell.algorithm, {"x": X})
    assert done.trace.parameters.shape == (2, 4, 2)
    np.testing.assert_array_equal(done.trace.parameters[:, -1], done.state.parameters)
    np.testing.assert_array_equal(done.trace.moments.step, [[10, 20, 30, 40]] * 2)


def test_metrics_along_and_of_the_whole_run_carry_the_epsilons_they_cost(chain: Path) -> None:
    evaluate.main(
        argparse.Namespace(
            cells=[(chain / "calibration.json", chain.parent / "data.npz", chain / "fit.npz")],
            metrics=["moment_error", "draws", "tests_made"], output=chain / "metrics.csv", code="none",
        )
    )  # fmt: skip
    rows = pd.read_csv(chain / "metrics.csv")
    along = rows[rows["metric"] == "mean_error_1"]
    assert list(along["step"]) == [10, 10, 20, 20, 30, 30, 40, 40]
    assert along.groupby("step")["eps_paper"].first().is_monotonic_increasing
    assert along.groupby("step")["eps_sound"].first().is_monotonic_increasing
    assert along.loc[along["step"] == 10, "value"].isna().all()
    assert along.loc[along["step"] > 10, "value"].notna().all()
    draws = rows[rows["metric"] == "theta_1"]
    assert draws["eps_paper"].nunique() == 1
    assert draws["eps_paper"].iloc[0] == along["eps_paper"].max()
    whole = rows[rows["metric"] == "acceptance"]
    assert list(whole["step"]) == [40, 40]
    assert whole["value"].between(0, 1).all()
    mean = rows[(rows["metric"] == "running_mean_1") & (rows["step"] == 40)]["value"].to_numpy()
    gap = rows[(rows["metric"] == "mean_gap_1") & (rows["step"] == 40)]["value"].to_numpy()
    np.testing.assert_allclose(gap, np.abs(mean - 0.432), rtol=1e-4)
    assert read_json(chain / "metrics.json")["cells"] == ["calibration"]
    assert set(rows["experiment"]) == {"chain"}
