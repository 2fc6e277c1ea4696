"""A chain goes from calibration to metrics: what it is given, what it pays for, and what is read back of it."""

from typing import Any

import jax
import numpy as np
import pandas as pd
import pytest

from cells import Cell
from dpinfer.accounting.ledger import Ledger, ledger_from_dict
from dpinfer.atomic import read_json, write_json
from dpinfer.inference.correction import Correction, to_dict
from pipeline.datasets.base import Dataset, save
from pipeline.experiment import OpenCell, read_cell
from pipeline.stages import fit

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


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    made = Cell(tmp_path_factory.mktemp("chain"), "start", START)
    save(made.artifacts.data("data"), Dataset({"x": X}, {}, {}))
    made.make("fit", "account")
    return made


@pytest.fixture(scope="module")
def chain(start: Cell) -> Cell:
    write_json(start.artifacts.correction("mixture"), {"mixture": to_dict(MIXTURE)})
    made = Cell(
        start.artifacts.results, "chain", CHAIN, correction="mixture", start=["start", "main"],
        metrics=["moment_error", "draws", "tests_made"],
    )  # fmt: skip
    made.make("fit", "account")
    return made


def opened(cell: Cell) -> OpenCell:
    return read_cell(cell.artifacts.stamp(*cell.names), cell.artifacts.data("data"))


def booked(cell: Cell) -> Ledger:
    return ledger_from_dict(read_json(cell.artifacts.account(*cell.names))["ledger"])


def test_a_chain_starts_where_the_earlier_run_ended_and_pays_for_it(chain: Cell, start: Cell) -> None:
    earlier = fit.load(start.artifacts.fit(*start.names), opened(start).algorithm, {"x": X})
    at = opened(chain).algorithm.init(jax.random.key(5), {"x": jax.numpy.asarray(X)}).parameters
    np.testing.assert_array_equal(at, earlier.state.guide["loc"][0])
    assert [entry.what for entry in booked(chain).entries] == ["dpvi", "barker"]
    paper, start_paper = booked(chain).paper(), booked(start).paper()
    assert paper is not None
    assert start_paper is not None
    alone = booked(chain).claims[1].epsilon()
    assert paper == pytest.approx(alone + start_paper)
    assert booked(chain).sound().upper > booked(start).sound().upper


def test_what_was_recorded_is_read_back_as_it_was(chain: Cell) -> None:
    done = fit.load(chain.artifacts.fit(*chain.names), opened(chain).algorithm, {"x": X})
    assert done.trace.parameters.shape == (2, 4, 2)
    np.testing.assert_array_equal(done.trace.parameters[:, -1], done.state.parameters)
    np.testing.assert_array_equal(done.trace.moments.step, [[10, 20, 30, 40]] * 2)


def test_metrics_along_and_of_the_whole_run_carry_the_epsilons_they_cost(chain: Cell) -> None:
    chain.make("evaluate")
    rows = pd.read_csv(chain.output("evaluate"))
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
    assert list(read_json(chain.output("evaluate").with_suffix(".json"))["cells"]) == ["main"]
    assert set(rows["experiment"]) == {"chain"}
