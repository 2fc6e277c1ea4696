"""The plan: experiments, cells and artifacts of a run, looked up by the rules, never parsed from names."""

import dataclasses
import os
import sys
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from dpinfer.atomic import to_json
from dpinfer.digest import digest
from dpinfer.errors import InputError
from dpinfer.machine import DEVICE
from dpinfer.names import changed_name, data_name
from dpinfer.settings.audit import RUN, Audit
from dpinfer.settings.cell import Cell
from dpinfer.settings.chain import Metropolised
from dpinfer.settings.chosen import Planned, choose
from dpinfer.settings.claim import Claims
from dpinfer.settings.correction import Correction
from dpinfer.settings.data import Data
from dpinfer.settings.experiment import PlannedCell
from dpinfer.settings.method import Method
from dpinfer.settings.project import Project
from dpinfer.settings.study import Study
from dpinfer.settings.yaml import parse, read

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
        # Hundreds of cells share their code, which does not change while a plan lasts.
        self._digest = cache(digest)
        self.experiments = choose(root, self.project)
        self._refuse_missing()

    @property
    def papers(self) -> list[str]:
        """The papers of which something is run."""
        return sorted({planned.paper for planned in self.experiments.values()})

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
    def corrections(self) -> dict[str, Correction]:
        """The corrections of logistic noise that cells need, by the name of their artifact."""
        return {
            changed_name("correction", cell.settings.correction): cell.settings.correction
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
        return [f"{self.results}/metrics/{name}.csv" for name in self.experiments]

    def data_of(self, experiment: str, cell: str) -> str:
        """Name of the data artifact that a cell needs."""
        settings = self.cell(experiment, cell).settings
        assert isinstance(settings, Cell)
        return data_name(settings.data)

    def correction_of(self, experiment: str, cell: str) -> list[str]:
        """The correction that a cell needs, if any."""
        settings = self.cell(experiment, cell).settings
        if not isinstance(settings, Metropolised):
            return []
        return [f"{self.results}/corrections/{changed_name('correction', settings.correction)}.json"]

    def start_of(self, experiment: str, cell: str) -> list[str]:
        """Calibration, data and fit of the run that a cell starts from, if any."""
        settings = self.cell(experiment, cell).settings
        if not isinstance(settings, Cell) or settings.start_from is None:
            return []
        return list(self._made(settings.start_from.experiment, settings.start_from.cell))

    def made(self, experiment: str) -> list[tuple[str, str, str]]:
        """Calibration, data and fit of every cell of an experiment."""
        return [self._made(experiment, cell) for cell in self.experiments[experiment].cells]

    def _made(self, experiment: str, cell: str) -> tuple[str, str, str]:
        return (
            f"{self.results}/calibration/{experiment}/{cell}.json",
            f"{self.results}/data/{self.data_of(experiment, cell)}.npz",
            f"{self.results}/fits/{experiment}/{cell}/fit.npz",
        )

    def cell(self, experiment: str, cell: str) -> PlannedCell:
        """Look up a cell by names."""
        return self.experiments[experiment].cells[cell]

    def job(self, experiment: str, cell: str) -> str:
        """All that a cell's first stage must know, as JSON; later stages read it from the artifact before."""
        return to_json(self._job(experiment, cell))

    def jobs(self, experiment: str) -> str:
        """The same for all cells of an experiment, as a JSON list."""
        return to_json([self._job(experiment, cell) for cell in self.experiments[experiment].cells])

    def _job(self, experiment: str, cell: str) -> dict[str, Any]:
        planned = self.cell(experiment, cell)
        return {
            "experiment": experiment,
            "cell": cell,
            "arm": planned.arm,
            "labels": planned.labels,
            "scale": self.project.scale,
            "seed": self.project.seed,
            "settings": dataclasses.asdict(planned.settings),
        }

    def data_job(self, data: str) -> str:
        """The settings of a data set, as JSON."""
        return to_json(dataclasses.asdict(self.data[data]))

    def correction_job(self, correction: str) -> str:
        """The settings of a correction, as JSON."""
        return to_json(dataclasses.asdict(self.corrections[correction]))

    def data_code(self, data: str) -> str:
        """Digest of the code that makes a data set."""
        return self.code("data", f"dpinfer.data.{self.data[data].name}")

    def figures(self, paper: str | None = None) -> list[str]:
        """Identifiers of the figures, of one paper or of all."""
        return [figure for planned in self._of(paper) for figure in planned.settings.figures]

    def drawn(self, figure: str) -> Planned:
        """The experiment that a figure shows."""
        return next(planned for planned in self.experiments.values() if figure in planned.settings.figures)

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
        return [f"{self.results}/metrics/{name}.csv" for name in (planned.name, *planned.settings.reads)]

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
        return self._digest((f"dpinfer.stages.{stage}", *parts), scripts)

    def cell_code(self, stage: str, experiment: str, cell: str) -> str:
        """Digest of the code that a stage runs for one cell."""
        settings = self.cell(experiment, cell).settings
        assert isinstance(settings, Cell)
        parts = self._parts(settings)
        if settings.start_from is not None and stage == "calibrate":
            parts |= self._parts(self.cell(settings.start_from.experiment, settings.start_from.cell).settings)
        return self.code(stage, *sorted(parts))

    def metrics_code(self, experiment: str) -> str:
        """Digest of the code that evaluates all cells of an experiment."""
        planned = self.experiments[experiment]
        parts = {f"dpinfer.evaluate.{metric}" for metric in planned.settings.metrics}
        return self.code(
            "evaluate", *sorted(parts.union(*(self._parts(cell.settings) for cell in planned.cells.values())))
        )

    def _parts(self, settings: Method | Study) -> set[str]:
        """The modules that a cell chooses by name."""
        assert isinstance(settings, Cell)
        return {f"dpinfer.inference.{settings.method}", f"dpinfer.models.{settings.model.name}"}

    def study_code(self, experiment: str) -> str:
        """Digest of the code that computes an experiment without data or fit."""
        cells = self.experiments[experiment].cells.values()
        names = sorted({cell.settings.study for cell in cells if not isinstance(cell.settings, Cell)})
        audited = [f"dpinfer.{module}" for module in RUN] if Audit.study in names else []
        return self.code("study", *(f"dpinfer.studies.{name}" for name in names), *audited)

    def figure_code(self, figure: str) -> str:
        """Digest of the code that draws a figure."""
        return self.code("figure", scripts=(self.script(figure),))

    def _of(self, paper: str | None) -> list[Planned]:
        return [planned for planned in self.experiments.values() if paper in (None, planned.paper)]

    def _refuse_missing(self) -> None:
        """Stop before the first job when a script that a later one needs is not there."""
        for planned in self.experiments.values():
            for figure in planned.settings.figures:
                script = self._shown(self.script(figure))
                if not self.script(figure).is_file():
                    raise InputError(f"{planned.file}: figures names {figure}, but there is no {script}")

    def _shown(self, path: Path) -> Path:
        return path.relative_to(self.root)
