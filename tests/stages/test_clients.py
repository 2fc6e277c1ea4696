"""From calibration to metrics: what is recorded along a run, and what each client has spent."""

import dataclasses
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpinfer import experiment
from dpinfer.accounting.ledger import BudgetExceededError
from dpinfer.atomic import read_json, to_json
from dpinfer.data import load
from dpinfer.data.base import save
from dpinfer.settings.pvi import Own, PviRecords
from dpinfer.stages import calibrate, evaluate, fit
from inference.shards import no_files, of_records


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of three clients, two of which have budgets."""
    root = tmp_path_factory.mktemp("run")
    settings = of_records(
        num_steps=6, record_every=2, seeds=2, local_steps=20, own=(Own(budget=15.0), Own(budget=8.0), Own())
    )
    dataset = load(settings.data, no_files)
    save(root / "data.npz", dataset)
    (root / "data.json").write_text(to_json({"shapes": {"train": {"x": list(dataset.train["x"].shape)}}}))
    job: dict[str, Any] = {"experiment": "tried", "cell": "one", "arm": "main", "labels": {"arm_of": 1}}
    job |= {"scale": "smoke", "seed": 0, "settings": dataclasses.asdict(settings)}
    calibrate.main(
        Namespace(
            job=to_json(job),
            facts=root / "data.json",
            correction=None,
            start=None,
            output=root / "calibration.json",
            code="none",
        )
    )
    made = (root / "calibration.json", root / "data.npz", root / "fit.npz")
    fit.main(Namespace(calibration=made[0], data=made[1], output=made[2], code="none"))
    evaluate.main(Namespace(cells=[made], metrics=["log_kl", "gap"], output=root / "metrics.csv", code="none"))
    return root


def test_what_is_recorded_can_be_read_again(folder: Path) -> None:
    cell = experiment.open_cell(folder / "calibration.json", folder / "data.npz")
    done = fit.load(folder / "fit.npz", cell.algorithm, cell.dataset.train)
    assert done.trace["posterior"].shape == (2, 3, 2, 2)
    np.testing.assert_array_equal(done.trace["posterior"][:, -1], done.state.posterior)
    assert not np.array_equal(done.trace["posterior"][:, 0], done.trace["posterior"][:, 1])


def test_every_recording_has_its_step_and_its_epsilon(folder: Path) -> None:
    metrics = pd.read_csv(folder / "metrics.csv")
    curve = metrics[metrics["metric"] == "log_kl"]
    assert curve.groupby("step")["seed"].nunique().to_dict() == {2: 2, 4: 2, 6: 2}
    assert curve.groupby("step")["eps_sound"].first().is_monotonic_increasing
    names = {"log_kl", "log_kl_tail", "log_kl_tail_sd", "gap", "gap_exponent", "eps_sound", "eps_paper"}
    assert set(metrics["metric"]) == names


def test_each_client_is_booked_and_keeps_its_budget(folder: Path) -> None:
    metrics = pd.read_csv(folder / "metrics.csv")
    spent = metrics[metrics["metric"] == "eps_sound"].set_index("client")["value"]
    assert 0 < spent[0] <= 15
    assert 0 < spent[1] <= 8
    ledger = read_json(folder / "ledger.json")
    assert [own["eps_sound"] for own in ledger["clients"]] == pytest.approx(spent.tolist())
    assert ledger["eps_sound"] == pytest.approx(spent.max())
    last = read_json(folder / "calibration.json")["settings"]["last_rounds"]
    assert last[2] == 6
    assert min(last) < 6


def test_a_client_that_would_overspend_is_refused_before_anything_is_run(folder: Path) -> None:
    cell = experiment.open_cell(folder / "calibration.json", folder / "data.npz")
    assert len(fit.spent(cell).clients()) == 3
    assert isinstance(cell.settings, PviRecords)
    eager = dataclasses.replace(cell.settings, last_rounds=(6, 6, 6))
    algorithm = experiment.build(eager, cell.dataset.num_records, cell.job["noise_multiplier"])
    with pytest.raises(BudgetExceededError, match=r"client \d would spend epsilon .*, but its budget is \d+"):
        fit.spent(cell._replace(settings=eager, algorithm=algorithm))
