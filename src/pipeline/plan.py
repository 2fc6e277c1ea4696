"""The plan: experiments, cells and artifacts of a run, looked up by the rules, never parsed from names."""

import ast
import dataclasses
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from dpinfer.atomic import to_json, write_json
from dpinfer.errors import InputError
from dpinfer.machine import DEVICE
from pipeline import registry
from pipeline.artifacts import Artifacts
from pipeline.derived import correction
from pipeline.digest import digest
from pipeline.registry import DATASETS
from pipeline.settings.cell import Cell
from pipeline.settings.chain import CorrectionFitting, Metropolised
from pipeline.settings.claim import Claims
from pipeline.settings.data import Data
from pipeline.settings.experiment import PlannedCell
from pipeline.settings.method import Method
from pipeline.settings.project import PlannedExperiment, Project, choose
from pipeline.settings.study import Study
from pipeline.settings.yaml import parse, read, suggest
from pipeline.shards import Task, cut, digest_of
from pipeline.tasks import changed_name, data_name, described, tasks_of

DATA_DIR = "DPINFER_DATA"


class Plan:
    """What is to be made, from the project's settings and the files under `config/`.

    Args:
        config: The content of `config/config.yaml` with the command line's changes.
        root: The folder that holds `config` and `workflow`.
    """

    def __init__(self, config: Mapping[str, Any], root: Path) -> None:
        self.root = root
        self.project = parse(Project, dict(config), "config/config.yaml or --config")
        self.results = self.project.results
        self.artifacts = Artifacts(Path(self.results))
        # Hundreds of cells share their code, which does not change while a plan lasts.
        self._digest = cache(digest)
        self._tasks = cache(
            lambda name: tasks_of(
                self.experiments[name], self.project, lambda stage, cell: self.cell_code(stage, name, cell)
            )
        )
        self.experiments = choose(root, self.project)
        asked = self.project.experiments
        self.asked = [*self.experiments] if asked == "all" else [*asked]
        self._refuse_missing()

    @property
    def papers(self) -> list[str]:
        """The papers of which something is run."""
        return sorted({planned.paper for planned in self._of(None)})

    @property
    def environment(self) -> dict[str, str]:
        """Variables for all jobs: settings that choose where something is done and never what comes out.

        Jobs run this checkout with the Python that runs Snakemake, whatever shell they start in; where
        Snakemake deploys a conda environment, that one comes first in the path all the same.
        """
        project = self.project
        return {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "PYTHONPATH": str(self.root.resolve() / "src"),
            DEVICE: project.device,
            **({DATA_DIR: project.data_dir} if project.data_dir else {}),
        }

    @cached_property
    def claims(self) -> dict[str, Claims]:
        """The claims of each paper that has any, by paper."""
        paths = sorted((self.root / "config/claims").glob("*.yaml"))
        claims = {path.stem: parse(Claims, read(path), self._shown(path)) for path in paths}
        seen: dict[str, str] = {}
        for paper, stated in claims.items():
            for claim in stated.claims:
                if claim.id in seen:
                    raise InputError(
                        f"config/claims/{paper}.yaml: the id {claim.id} stands in {seen[claim.id]}.yaml, too"
                    )
                seen[claim.id] = paper
        return claims

    @cached_property
    def data(self) -> dict[str, Data]:
        """The data sets that cells need, by the name of their artifact."""
        return {
            data_name(cell.settings.data): cell.settings.data
            for planned in self.experiments.values()
            for cell in planned.cells.values()
            if isinstance(cell.settings, Cell)
        }

    @cached_property
    def corrections(self) -> dict[str, CorrectionFitting]:
        """The corrections of logistic noise that cells need, by the name of their artifact."""
        return {
            changed_name("correction", correction(cell.settings)): correction(cell.settings)
            for planned in self.experiments.values()
            for cell in planned.cells.values()
            if isinstance(cell.settings, Metropolised)
        }

    @property
    def studies(self) -> list[str]:
        """Experiments whose cells need neither data nor a fit, and measure no time."""
        return [name for name, planned in self.experiments.items() if planned.is_study and not planned.is_timed]

    @property
    def timings(self) -> list[str]:
        """Experiments that measure time."""
        return [name for name, planned in self.experiments.items() if planned.is_timed]

    @property
    def fits(self) -> list[str]:
        """Experiments whose cells are fitted to data."""
        return [name for name, planned in self.experiments.items() if not planned.is_study]

    @property
    def claim_files(self) -> list[str]:
        """The files that claims stand in."""
        return [str(self.root / "config/claims" / f"{paper}.yaml") for paper in self.claims]

    @property
    def tables(self) -> list[str]:
        """The published tables that claims are about."""
        named = [(paper, claim) for paper, stated in self.claims.items() for claim in stated.claims if claim.table]
        paths = {claim.id: self.root / "config/published" / paper / f"{claim.table}.csv" for paper, claim in named}
        for claim, path in paths.items():
            if not path.is_file():
                raise InputError(f"the claim {claim} names a table, but there is no {self._shown(path)}")
        return sorted({str(path) for path in paths.values()})

    @property
    def all_metrics(self) -> list[str]:
        """The metrics file of every experiment."""
        return [self.metrics_of(name) for name in self.experiments]

    def shards(self, experiment: str) -> list[str]:
        """The parts that the cells of an experiment are made in, each by one job."""
        count = min(self.project.shards, len(self.experiments[experiment].cells))
        return [f"{number}of{count}" for number in range(1, count + 1)]

    def index(self, stage: str, experiment: str, *shards: str) -> list[str]:
        """What a stage writes when the cells of shards are made, where there are any; by default all shards."""
        return [
            str(self.artifacts.index(stage, experiment, shard))
            for shard in shards or self.shards(experiment)
            if self._tasks_of(stage, experiment, shard)
        ]

    def data_of(self, experiment: str, *shards: str) -> list[str]:
        """Names of the data sets that shards need; by default all."""
        names = shards or self.shards(experiment)
        return sorted({task["data"] for shard in names for task in self._tasks_of("fit", experiment, shard)})

    def corrections_of(self, experiment: str, shard: str) -> list[str]:
        """The corrections that a shard needs."""
        named = {task["correction"] for task in self._tasks_of("fit", experiment, shard)} - {None}
        return sorted(str(self.artifacts.correction(name)) for name in named)

    def starts_of(self, experiment: str, shard: str) -> list[str]:
        """What tells that the runs that a shard's cells start from are made and accounted for."""
        starts = [task["start"] for task in self._tasks_of("fit", experiment, shard) if task["start"] is not None]
        return sorted({path for name, _ in starts for path in self.index("account", name)})

    def group(self, experiment: str) -> str:
        """The group of the jobs of a shard: calibration, fits and accounts are sent to a cluster as one.

        Shards whose cells start from other fits are a group of their own, since jobs of one group that depend on
        each other are one: all such shards would have to wait for each other on one machine.
        """
        is_started = any(self.starts_of(experiment, shard) for shard in self.shards(experiment))
        return "started" if is_started else "shard"

    @property
    def gpus(self) -> int:
        """How many GPUs a job needs that computes with JAX; with the device `auto` it takes what it is given."""
        return int(self.project.device == "gpu")

    def cell(self, experiment: str, cell: str) -> PlannedCell:
        """Look up a cell by names."""
        return self.experiments[experiment].cells[cell]

    def jobs(self, experiment: str) -> str:
        """All that a study must know of its cells, as a JSON list."""
        planned = self.experiments[experiment]
        return to_json(
            [
                {
                    "experiment": experiment,
                    "cell": name,
                    **described(planned, name, self.project),
                    "settings": dataclasses.asdict(cell.settings),
                }
                for name, cell in planned.cells.items()
            ]
        )

    def tasks_digest(self, stage: str, experiment: str, shard: str) -> str:
        """Digest of what a stage is to do for a shard: its cells, their settings and the code that they run."""
        return digest_of(self._tasks_of(stage, experiment, shard))

    def write_tasks(self) -> None:
        """Write the tasks of all fitted experiments for the stages; what is there already is left alone."""
        for experiment in self.fits:
            path, content = self.artifacts.tasks(experiment), self._tasks(experiment)
            if not path.is_file() or path.read_text(encoding="utf-8") != to_json(content, indent=2) + "\n":
                write_json(path, content)

    def _tasks_of(self, stage: str, experiment: str, shard: str) -> list[Task]:
        return cut(self._tasks(experiment)[stage], shard)

    def data_job(self, data: str) -> str:
        """The settings of a data set, as JSON."""
        return to_json(dataclasses.asdict(self.data[data]))

    def correction_job(self, correction: str) -> str:
        """The settings of a correction, as JSON."""
        return to_json(dataclasses.asdict(self.corrections[correction]))

    def data_code(self, data: str) -> str:
        """Digest of the code that makes a data set."""
        return self.code("data", DATASETS[self.data[data].name])

    def figures(self, paper: str | None = None) -> list[str]:
        """Identifiers of the figures, of one paper or of all."""
        return [figure for planned in self._of(paper) for figure in planned.settings.figures]

    def drawn(self, figure: str) -> PlannedExperiment:
        """The experiment that a figure shows."""
        drawn = {name: planned for planned in self.experiments.values() for name in planned.settings.figures}
        if figure not in drawn:
            raise InputError(f"no experiment of this run has a figure {figure}{suggest(figure, drawn)}")
        return drawn[figure]

    def script(self, figure: str) -> Path:
        """The file that draws a figure."""
        return self.root / "workflow/figures" / self.drawn(figure).paper / f"{figure}.py"

    def published(self, figure: str) -> list[str]:
        """The file with the paper's own values for a figure, if there is one."""
        path = self.root / "config/published" / self.drawn(figure).paper / f"{figure}.csv"
        return [str(path)] if path.is_file() else []

    def metrics(self, figure: str) -> list[str]:
        """Metrics files that a figure reads."""
        planned = self.drawn(figure)
        return [self.metrics_of(name) for name in (planned.name, *planned.settings.reads)]

    def metrics_of(self, experiment: str) -> str:
        """The metrics file of an experiment."""
        if experiment not in self.experiments:
            raise InputError(f"this run has no experiment {experiment}{suggest(experiment, self.experiments)}")
        return f"{self.results}/metrics/{experiment}.csv"

    def targets(self, paper: str | None = None) -> list[str]:
        """Figures and tables, of one paper or of all."""
        return [
            *(f"{self.results}/figures/{figure}.pdf" for figure in self.figures(paper)),
            *(
                f"{self.results}/tables/{planned.name}.csv"
                for planned in self._of(paper)
                if planned.settings.table
            ),
        ]

    def code(self, stage: str, *parts: str, scripts: tuple[Path, ...] = ()) -> str:
        """Digest of the code that a stage runs, given the modules that it chooses by name."""
        return self._digest((f"pipeline.stages.{stage}", *parts), scripts)

    def cell_code(self, stage: str, experiment: str, cell: str) -> str:
        """Digest of the code that a stage runs for one cell."""
        settings = self.cell(experiment, cell).settings
        asked, run = self._with_start(registry.asked_by, settings), self._with_start(registry.run_by, settings)
        metrics = {registry.METRICS[metric] for metric in self.experiments[experiment].settings.metrics}
        parts = {"calibrate": asked | run, "fit": run, "account": asked, "evaluate": run | metrics}
        return self.code(stage, *sorted(parts[stage]))

    def _with_start(self, modules: Callable[[Method | Study], set[str]], settings: Method | Study) -> set[str]:
        """The modules of a cell, and of the run that it starts from, which is read and accounted for as well."""
        earlier = settings.start_from if isinstance(settings, Cell) else None
        if earlier is None:
            return modules(settings)
        before = self.cell(earlier.experiment, earlier.cell).settings
        return modules(settings) | self._with_start(modules, before)

    def study_code(self, experiment: str) -> str:
        """Digest of the code that computes an experiment without data or fit."""
        settings = [cell.settings for cell in self.experiments[experiment].cells.values()]
        parts = [registry.run_by(own) | registry.asked_by(own) for own in settings]
        return self.code("study", *sorted(set[str]().union(*parts)))

    def figure_code(self, figure: str) -> str:
        """Digest of the code that draws a figure."""
        return self.code("figure", scripts=(self.script(figure),))

    def _of(self, paper: str | None) -> list[PlannedExperiment]:
        """The experiments that were asked for, of one paper or of all; not those that they need besides."""
        asked = [self.experiments[name] for name in self.asked]
        return [planned for planned in asked if paper in (None, planned.paper)]

    def _refuse_missing(self) -> None:
        """Stop before the first job when a script that a later one needs is not there."""
        for planned in self.experiments.values():
            for figure in planned.settings.figures:
                script = self._shown(self.script(figure))
                if not self.script(figure).is_file():
                    raise InputError(f"{planned.file}: figures names {figure}, but there is no {script}")
                for name in _picked(self.script(figure)):
                    if name not in (planned.name, *planned.settings.reads):
                        raise InputError(f"{planned.file}: {script} draws {name}, which should be under reads")

    def _shown(self, path: Path) -> Path:
        return path.relative_to(self.root)


def _picked(script: Path) -> Iterator[str]:
    """The experiments whose rows a script picks by name, as in `metrics["experiment"] == "dpvi_fig1_abalone"`."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        match node:
            case ast.Compare(
                left=ast.Subscript(slice=ast.Constant(value="experiment")),
                comparators=[ast.Constant(value=str(name))],
            ):
                yield name
