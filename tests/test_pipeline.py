"""The pipeline at smoke scale: what it makes, what it makes again, and how it recovers."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from browser import CHROMIUM, PHONE, look
from checkout import Checkout, copy_project, wait_for
from pipeline.artifacts import Artifacts
from pipeline.digest import by_value, closure
from pipeline.plan import Plan

EXPERIMENT = "config/experiments/dpvi/abalone_descent.yaml"
FOLDERS = ("data", "fits", "metrics", "figures", "tables")
# By variational inference, tests, Langevin, gradients and clients; descent is compared after a kill.
METHODS = ("dpmcmc_fig3", "dpmcmc_init", "dppvi_budgets", "dpvi_fig5_sgld", "pyvacy_tut_logreg")
# Started by every verb: they choose the verb and the device.
LAUNCHERS = {
    "dpinfer", "dpinfer.cli", "dpinfer.cli.program", "dpinfer.machine",
    "pipeline", "pipeline.__main__", "pipeline.cli",
}  # fmt: skip
OF_SHARDS = {"calibrate": 1, "fit": 1, "account": 1}
ONE_OF_EACH = {"evaluate": 1, "figure": 1, "table": 1, "scorecard": 1, "report": 1, "default": 1}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which the whole pipeline has run once; tests that edit it must undo what they did."""
    made = copy_project(tmp_path_factory.mktemp("finished"))
    made.snakemake()
    return made


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which all experiments of all papers have run."""
    made = copy_project(tmp_path_factory.mktemp("everything"))
    made.snakemake(config=("experiments=all",))
    return made


class Edited:
    """A text replaced in a file for the time of a `with` block."""

    def __init__(self, made: Checkout, path: str, old: str, new: str) -> None:
        self.file, self.before = made.root / path, (made.root / path).read_text(encoding="utf-8")
        made.edit(path, old, new)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.file.write_text(self.before, encoding="utf-8")


def test_a_dry_run_lists_the_expected_jobs(checkout: Checkout) -> None:
    assert checkout.pending() == {"data": 1, **OF_SHARDS, **ONE_OF_EACH}
    assert not (checkout.root / "results/smoke").exists()


def test_every_stage_leaves_its_artifact(finished: Checkout) -> None:
    results = finished.root / "results/smoke"
    made = {str(path.relative_to(results)) for path in results.rglob("*") if path.is_file()}
    cell = "abalone_descent/private-epsilon=3"
    assert {
        "data/abalone-standin=True.npz",
        "data/abalone-standin=True.json",
        f"calibration/{cell}.json",
        f"fits/{cell}/fit.npz",
        f"accounts/{cell}.json",
        f"fits/{cell}/stamp.json",
        "metrics/abalone_descent.csv",
        "figures/abalone_descent.pdf",
        "figures/abalone_descent.png",
        "tables/abalone_descent.csv",
        "tables/abalone_descent.md",
        "scorecard.csv",
        "scorecard.md",
        "report.html",
    } <= made
    assert not [name for name in made if Path(name).name.startswith(".")], "a temporary file was left"


def test_a_gallery_at_smoke_scale_stays_among_the_results(finished: Checkout) -> None:
    said = finished.snakemake("--", "gallery")
    results = finished.root / "results/smoke"
    assert {"README.md", "scorecard.csv", "abalone_descent.png"} == {
        path.name for path in (results / "gallery").iterdir()
    }
    assert not (finished.root / "docs").exists()
    assert "Results are in results/smoke; start with results/smoke/report.html" in said.stdout
    assert "Scorecard at smoke scale" in said.stdout


def test_every_private_row_carries_both_epsilons_and_the_stand_in(finished: Checkout) -> None:
    metrics = pd.read_csv(finished.root / "results/smoke/metrics/abalone_descent.csv")
    assert len(metrics) == 3 * 2
    assert metrics["standin"].all()
    private = metrics[metrics["arm"] == "private"]
    assert (private["eps_sound"] <= private["epsilon"]).all()
    assert (private["eps_sound"] > 0.99 * private["epsilon"]).all()
    assert (private["eps_paper"] > 0).all()
    assert (metrics.loc[metrics["arm"] == "exact", "eps_sound"] == float("inf")).all()


def test_the_digest_of_a_stage_covers_all_that_it_loads(
    everything: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an edit of what is loaded would rerun nothing."""
    results = everything.root / "results/smoke"
    plan = Plan({"scale": "smoke", "seed": 0}, everything.root)
    monkeypatch.setattr(plan, "_digest", lambda modules, _: closure(frozenset(modules)))

    def uncovered(stamp: Path, covered: Any) -> set[str]:
        loaded = set(json.loads(stamp.read_text(encoding="utf-8"))["stamp"]["modules"])
        assert loaded, "a stamp without modules would prove nothing"
        return loaded - by_value() - LAUNCHERS - covered

    missed = {f"data/{name}": uncovered(results / f"data/{name}.json", plan.data_code(name)) for name in plan.data}
    for name in plan.corrections:
        missed[name] = uncovered(results / f"corrections/{name}.json", plan.code("correction"))
    kept = Artifacts(results)
    stamps = {"calibrate": kept.calibration, "fit": kept.stamp, "account": kept.account, "evaluate": kept.rows}
    for experiment in plan.fits:
        cells = plan.experiments[experiment].cells
        for stage, stamp_of in stamps.items():
            # One process makes all cells, so that the last has loaded what any of them needs.
            covered = set().union(*(plan.cell_code(stage, experiment, cell) for cell in cells))
            for stamp in (stamp_of(experiment, cell) for cell in cells):
                if stamp.exists() or stage != "calibrate":
                    missed[f"{stage} {stamp}"] = uncovered(stamp, covered)
    for experiment in (*plan.studies, *plan.timings):
        missed[experiment] = uncovered(results / f"metrics/{experiment}.json", plan.study_code(experiment))
    assert {what: names for what, names in missed.items() if names} == {}


def test_a_second_run_does_nothing(finished: Checkout) -> None:
    assert finished.pending() == {}


def made_again(made: Checkout) -> set[str]:
    """Run the pipeline; returns what was made of cells, or made again."""
    results = made.root / "results/smoke"
    folders = ("calibration", "fits", "accounts", "metrics")

    def times() -> dict[str, int]:
        files = [path for folder in folders for path in (results / folder).rglob("*") if path.is_file()]
        return {str(path.relative_to(results)): path.stat().st_mtime_ns for path in files}

    before = times()
    made.snakemake()
    return {name for name, time in times().items() if before.get(name) != time}


def test_one_more_grid_value_makes_one_cell_and_what_depends_on_it(finished: Checkout, tmp_path: Path) -> None:
    made = finished.copy(tmp_path / "project")
    made.edit(EXPERIMENT, "grid: {epsilon: [0.3, 3]}", "grid: {epsilon: [0.3, 1, 3]}")
    assert made.pending() == {**OF_SHARDS, **ONE_OF_EACH}
    cell = "private-epsilon=1"
    assert made_again(made) == {
        f"calibration/abalone_descent/{cell}.json", f"fits/abalone_descent/{cell}/fit.npz",
        f"fits/abalone_descent/{cell}/stamp.json", f"accounts/abalone_descent/{cell}.json",
        f"metrics/abalone_descent/{cell}.json", "metrics/abalone_descent.csv", "metrics/abalone_descent.json",
    }  # fmt: skip


def test_a_better_accountant_makes_accounts_again_and_no_fit(finished: Checkout, tmp_path: Path) -> None:
    made = finished.copy(tmp_path / "project")
    before, after = "return Bound(found[0], below", "return Bound(1.0 * found[0], below"
    made.edit("src/dpinfer/accounting/sound/pld.py", before, after)
    again = made_again(made)
    assert {name.split("/")[0] for name in again} == {"calibration", "accounts", "metrics"}
    assert len([name for name in again if name.startswith("accounts")]) == 3
    assert len([name for name in again if name.startswith("calibration")]) == 2


def test_a_cell_that_was_taken_away_is_made_again_alone(finished: Checkout, tmp_path: Path) -> None:
    made = finished.copy(tmp_path / "project")
    lost = "fits/abalone_descent/exact/fit.npz"
    (made.root / "results/smoke" / lost).unlink()
    # Without somebody who needs it, Snakemake would not miss it.
    made.edit("src/pipeline/metrics/predictions.py", ">= 0.5", "> 0.5")
    again = {name for name in made_again(made) if name.startswith("fits")}
    assert again == {lost, lost.replace("fit.npz", "stamp.json")}
    assert made.contents("fits") == finished.contents("fits")


def test_a_cell_that_fails_is_named_and_keeps_no_other_from_being_made(checkout: Checkout) -> None:
    checkout.edit(EXPERIMENT, "base: {epsilon: .inf}", "base: {epsilon: .inf, learning_rate: 1.0e+30}")
    said = checkout.snakemake(check=False)
    assert said.returncode == 1
    assert "1 of 3 cells could not be made" in said.stderr
    assert "exact: the state of seed 0 is not finite" in said.stderr
    assert list(checkout.contents("fits")) == [f"abalone_descent/private-epsilon={e}/fit.npz" for e in (0.3, 3)]


def test_shards_give_the_same_results_and_make_nothing_again(finished: Checkout, tmp_path: Path) -> None:
    made = finished.copy(tmp_path / "project")
    assert made.pending(config=("shards=2",))["fit"] == 2
    fits = {path: path.stat().st_mtime_ns for path in made.root.rglob("fit.npz")}
    made.snakemake(config=("shards=2",))
    assert {path: path.stat().st_mtime_ns for path in fits} == fits
    for folder in FOLDERS:
        assert made.contents(folder) == finished.contents(folder)


def test_a_figure_script_redraws_its_figure_only(finished: Checkout) -> None:
    with Edited(
        finished, "workflow/figures/dpvi/abalone_descent.py", "(COLUMN_WIDTH, 2.4)", "(COLUMN_WIDTH, 2.5)"
    ):
        assert finished.pending() == {"figure": 1, "report": 1, "default": 1}


def test_a_metric_reruns_no_fit(finished: Checkout) -> None:
    with Edited(finished, "src/pipeline/metrics/predictions.py", ">= 0.5", "> 0.5"):
        assert finished.pending() == ONE_OF_EACH


def test_an_algorithm_reruns_its_fits_and_no_data(finished: Checkout) -> None:
    with Edited(finished, "src/dpinfer/inference/descent.py", "w + rate * (a + b)", "w + rate * (b + a)"):
        pending = finished.pending()
    assert pending == {**OF_SHARDS, **ONE_OF_EACH}


def test_an_accountant_reruns_what_it_accounts_for_and_nothing_else(finished: Checkout) -> None:
    with Edited(
        finished,
        "src/dpinfer/accounting/sound/pld.py",
        "return Bound(found[0], below",
        "return Bound(2 * found[0], below",
    ):
        pending = finished.pending()
    assert pending == {**OF_SHARDS, **ONE_OF_EACH}
    with Edited(
        finished, "src/dpinfer/accounting/published/advanced.py", "return Bound(value", "return Bound(2 * value"
    ):
        assert finished.pending() == {}


def test_a_docstring_reruns_nothing(finished: Checkout) -> None:
    with Edited(finished, "src/dpinfer/inference/descent.py", "to the mode of the posterior", "to the mode"):
        assert finished.pending() == {}
    with Edited(finished, "workflow/figures/dpvi/abalone_descent.py", "with one standard error", "with bars"):
        assert finished.pending() == {}


def test_touching_files_reruns_nothing(finished: Checkout) -> None:
    for path in ("src/dpinfer/inference/descent.py", "workflow/figures/dpvi/abalone_descent.py", EXPERIMENT):
        (finished.root / path).touch()
    assert finished.pending() == {}


def test_another_data_folder_or_device_reruns_nothing(finished: Checkout) -> None:
    assert finished.pending(config=("data_dir=elsewhere", "device=cpu")) == {}


def test_a_moved_checkout_remembers_what_it_made(finished: Checkout, tmp_path: Path) -> None:
    moved = Checkout(tmp_path / "moved")
    subprocess.run(["cp", "-a", str(finished.root), str(moved.root)], check=True)
    assert moved.pending() == {}


def test_the_same_seed_gives_the_same_artifacts(everything: Checkout, checkout: Checkout) -> None:
    targets = [f"results/smoke/metrics/{name}.csv" for name in METHODS]
    checkout.snakemake("--", *targets, config=(f"experiments=[{','.join(METHODS)}]",))
    for folder in ("data", "fits", "metrics"):
        mine, theirs = checkout.contents(folder), everything.contents(folder)
        assert {name: content == theirs[name] for name, content in mine.items()} == dict.fromkeys(mine, True)
    assert len(checkout.contents("metrics")) == len(targets)


def test_a_killed_run_recovers_to_the_same_results(finished: Checkout, checkout: Checkout) -> None:
    run = checkout.start()
    first = checkout.root / "results/smoke/fits/abalone_descent"
    wait_for(first)
    (snakemake,) = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    # Not its jobs, which go on writing while the next run is at work.
    for pid in (run.pid, int(snakemake)):
        os.kill(pid, signal.SIGKILL)
    run.wait()
    assert len(checkout.contents("fits")) < len(finished.contents("fits")), "the run had ended before the kill"
    again = checkout.start()
    said = again.communicate()[0]
    assert again.returncode == 0, said
    for folder in FOLDERS:
        assert checkout.contents(folder) == finished.contents(folder)


def test_an_artifact_that_was_cut_short_is_made_again(finished: Checkout) -> None:
    before = {folder: finished.contents(folder) for folder in FOLDERS}
    cut = [
        "calibration/abalone_descent/private-epsilon=3.json",
        "fits/abalone_descent/exact/fit.npz",
        "metrics/abalone_descent.csv",
        "figures/abalone_descent.png",
        "report.html",
    ]
    for name in cut:
        path = finished.root / "results/smoke" / name
        os.truncate(path, path.stat().st_size // 2)
    said = finished.snakemake().stderr
    for name in cut:
        kept = finished.root / f"results/smoke/{name}.damaged"
        assert f"results/smoke/{name} was cut short: it is made again, and kept as {kept.name}" in said
        kept.unlink()
    assert {folder: finished.contents(folder) for folder in FOLDERS} == before
    assert (finished.root / "results/smoke/report.html").read_text(encoding="utf-8").endswith("</html>")
    assert finished.pending() == {}


def test_a_bad_config_stops_before_the_first_job_with_its_sentence(checkout: Checkout) -> None:
    checkout.edit(EXPERIMENT, "clip: 1.0", "clip: -1.0")
    said = checkout.snakemake(check=False)
    assert said.returncode != 0
    assert f"{EXPERIMENT}: base.clip is -1.0, but should be greater than 0" in said.stderr
    assert "Traceback" not in said.stderr
    assert not (checkout.root / "results/smoke").exists()


def test_one_paper_is_a_target(checkout: Checkout) -> None:
    pending = checkout.pending("--", "dpvi")
    assert pending["figure"] == 1
    assert "scorecard" not in pending


def test_the_whole_pipeline_runs_at_smoke_scale(everything: Checkout) -> None:
    results = everything.root / "results/smoke"
    card = pd.read_csv(results / "scorecard.csv")
    assert set(card["verdict"]) <= {"reproduced", "differs", "not testable here"}
    for script in (everything.root / "workflow/figures").glob("*/*.py"):
        assert (results / f"figures/{script.stem}.pdf").stat().st_size > 1000, script
    assert everything.pending(config=("experiments=all",)) == {}


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_a_browser_shows_the_whole_report_offline_on_a_phone(everything: Checkout, tmp_path: Path) -> None:
    results = everything.root / "results/smoke"
    told = look(results / "report.html", tmp_path)
    assert told.pop("width") <= PHONE
    pictures = len(list((results / "figures").glob("*.png")))
    assert told == {"images": pictures, "missing": 0, "dead": [], "errors": []}
