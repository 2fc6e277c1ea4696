"""From calibration to metrics: what is recorded along a run, and what each client has spent."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from cells import Cell
from dpinfer.accounting.ledger import BudgetExceededError
from dpinfer.atomic import read_json, write_json
from inference.shards import no_files, settings_of_records
from pipeline import accounts, experiment
from pipeline.datasets import load
from pipeline.datasets.base import save
from pipeline.experiment import read_cell
from pipeline.settings.pvi import Client, PviRecords
from pipeline.stages import fit


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    """A small run of three clients, two of which have budgets."""
    settings = settings_of_records(
        num_steps=6,
        record_every=2,
        seeds=2,
        local_steps=20,
        own=(Client(budget=15.0), Client(budget=8.0), Client()),
    )
    made = Cell(
        tmp_path_factory.mktemp("run"), "tried", dataclasses.asdict(settings), calibrated=True,
        metrics=["log_kl", "gap"],
    )  # fmt: skip
    dataset = load(settings.data, no_files)
    save(made.artifacts.data("data"), dataset)
    write_json(made.artifacts.facts("data"), {"shapes": {"train": {"x": list(dataset.train["x"].shape)}}})
    made.make("calibrate", "fit", "account", "evaluate")
    return made


def test_what_is_recorded_can_be_read_again(cell: Cell) -> None:
    opened = read_cell(cell.artifacts.stamp(*cell.names), cell.artifacts.data("data"))
    done = fit.load(cell.artifacts.fit(*cell.names), opened.algorithm, opened.dataset.train)
    assert done.trace["posterior"].shape == (2, 3, 2, 2)
    np.testing.assert_array_equal(done.trace["posterior"][:, -1], done.state.posterior)
    assert not np.array_equal(done.trace["posterior"][:, 0], done.trace["posterior"][:, 1])


def test_every_recording_has_its_step_and_its_epsilon(cell: Cell) -> None:
    metrics = pd.read_csv(cell.output("evaluate"))
    curve = metrics[metrics["metric"] == "log_kl"]
    assert curve.groupby("step")["seed"].nunique().to_dict() == {2: 2, 4: 2, 6: 2}
    assert curve.groupby("step")["eps_sound"].first().is_monotonic_increasing
    names = {"log_kl", "log_kl_tail", "log_kl_tail_sd", "gap", "gap_exponent", "eps_sound", "eps_paper"}
    assert set(metrics["metric"]) == names


def test_each_client_is_booked_and_keeps_its_budget(cell: Cell) -> None:
    metrics = pd.read_csv(cell.output("evaluate"))
    spent = metrics[metrics["metric"] == "eps_sound"].set_index("client")["value"]
    assert 0 < spent[0] <= 15
    assert 0 < spent[1] <= 8
    ledger = read_json(cell.artifacts.account(*cell.names))["ledger"]
    assert [own["eps_sound"] for own in ledger["clients"]] == pytest.approx(spent.tolist())
    assert ledger["eps_sound"] == pytest.approx(spent.max())
    last = read_json(cell.artifacts.calibration(*cell.names))["completed"]["last_rounds"]
    assert last[2] == 6
    assert min(last) < 6


def test_a_client_that_would_overspend_fails_its_account(cell: Cell) -> None:
    opened = read_cell(cell.artifacts.stamp(*cell.names), cell.artifacts.data("data"))
    assert isinstance(opened.settings, PviRecords)
    eager = dataclasses.replace(opened.settings, last_rounds=(6, 6, 6))
    event = experiment.build(eager, opened.dataset.num_records, opened.job["noise_multiplier"]).event(6)
    with pytest.raises(BudgetExceededError, match=r"client \d would spend epsilon .*, but its budget is \d+"):
        accounts.spent(eager, event, event)
