"""The tasks of an experiment: what each stage is to do for its cells, and what it must know for it, no more.

A task is part of the identity of what is made by it. So what a stage is not told cannot make it run again.
"""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from pipeline import registry
from pipeline.derived import correction, is_calibrated
from pipeline.settings.cell import Cell
from pipeline.settings.chain import Metropolised
from pipeline.settings.data import Data
from pipeline.settings.project import PlannedExperiment, Project
from pipeline.shards import Task

Code = Callable[[str, str], str]
"""`(stage, cell) -> digest` of the code that a stage runs for a cell."""


def data_name(settings: Data) -> str:
    """Name of a data artifact: the data set's, and whatever differs from its default settings."""
    return changed_name(settings.name, settings)


def changed_name(name: str, settings: Any) -> str:
    """A name, and whatever differs from the default settings."""
    changed = [
        f"{field.name}={getattr(settings, field.name)}"
        for field in dataclasses.fields(settings)
        if getattr(settings, field.name) != field.default
    ]
    return re.sub(r"[^A-Za-z0-9.+_=-]", "_", "-".join([name, *changed]))


def any_of(names: list[str]) -> str:
    """A regular expression for any of the names, or for nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def tasks_of(planned: PlannedExperiment, project: Project, code: Code) -> dict[str, list[Task]]:
    """The tasks of each stage, in the order of the cells."""
    metrics = planned.settings.metrics
    along = any(metric in registry.PAID_BY_STEP for metric in metrics)
    cells = {name: cell.settings for name, cell in planned.cells.items() if isinstance(cell.settings, Cell)}
    found: dict[str, dict[str, dict[str, Any]]] = {
        "calibrate": {name: _calibrate(own) for name, own in cells.items() if is_calibrated(own)},
        "fit": {name: _fit(own, project.seed) for name, own in cells.items()},
        "account": {name: {"start": _start(own), "along": along} for name, own in cells.items()},
        "evaluate": {
            name: {**described(planned, name, project), "data": data_name(own.data), "metrics": list(metrics)}
            for name, own in cells.items()
        },
    }
    return {
        stage: [
            {"experiment": planned.name, "cell": name, **task, "code": code(stage, name)}
            for name, task in tasks.items()
        ]
        for stage, tasks in found.items()
    }


def described(planned: PlannedExperiment, cell: str, project: Project) -> dict[str, Any]:
    """What the metrics of a cell are labelled by."""
    own = planned.cells[cell]
    return {"arm": own.arm, "labels": own.labels, "scale": project.scale}


def _calibrate(settings: Cell) -> dict[str, Any]:
    return {"settings": dataclasses.asdict(settings), "data": data_name(settings.data)}


def _fit(settings: Cell, seed: int) -> dict[str, Any]:
    return {
        **_calibrate(settings),
        "seed": seed,
        "calibrated": is_calibrated(settings),
        "correction": correction_name(settings),
        "start": _start(settings),
    }


def correction_name(settings: Cell) -> str | None:
    """Name of the correction that a cell's tests need, if it has any."""
    return changed_name("correction", correction(settings)) if isinstance(settings, Metropolised) else None


def _start(settings: Cell) -> list[str] | None:
    earlier = settings.start_from
    return None if earlier is None else [earlier.experiment, earlier.cell]
