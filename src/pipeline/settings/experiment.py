"""An experiment: `config/experiments/<paper>/<name>.yaml`, and the cells that its grid is crossed into."""

import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import Field
from pydantic.dataclasses import dataclass

from dpinfer.errors import InputError
from pipeline.registry import METRICS
from pipeline.settings.base import STRICT, Scale
from pipeline.settings.cell import Cell
from pipeline.settings.method import Method
from pipeline.settings.study import Study
from pipeline.settings.yaml import parse

if TYPE_CHECKING:
    Metric = str
else:
    # Type checkers do not take a literal that is computed.
    Metric = Literal[tuple(METRICS)]
OF_OUTCOMES = ("accuracy", "auc")
"""Metrics of predictions, which a model of whole records does not make."""
OF_MODELS: dict[Metric, str] = {
    "components": "mixture", "density": "mixture", "digits": "gan", "learning": "classifier", "quality": "gan",
}  # fmt: skip
"""Metrics that only one model has, and the name of the model."""
ALONG: tuple[Metric, ...] = ("draws", "gap", "learning", "log_kl", "moment_error", "natural", "tests_made")
"""Metrics of a run's course, which need recordings."""
Table = dict[str, Any]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Part:
    """What can be stated of cells; the innermost statement of a key holds."""

    data: Annotated[Table, Field(description="Data set by name, and its settings.")] = Field(default_factory=dict)
    model: Annotated[Table, Field(description="Model by name, and its settings.")] = Field(default_factory=dict)
    base: Annotated[Table, Field(description="Settings that all cells share.")] = Field(default_factory=dict)
    grid: Annotated[
        dict[str, list[Any]], Field(description="Settings that vary: each key with the list of its values.")
    ] = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Whole(Part):
    """A part that may state something of single arms, too."""

    arms: Annotated[
        dict[Name, Part], Field(description="Curves of a comparison: each arm's own settings, by its name.")
    ] = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Change(Whole):
    """What a scale changes of an experiment."""

    without: Annotated[
        tuple[Name, ...], Field(description="Arms that are left out, as where others run the same code.")
    ] = ()


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Experiment(Whole):
    """The paper's setting of one experiment, and what smaller scales change of it."""

    title: Annotated[str, Field(description="What is shown, in a few words.")]
    where: Annotated[str, Field(description="Figure, table or section of the paper.")]
    metrics: Annotated[
        tuple[Metric, ...], Field(description="What is evaluated for each seed of a fit; a study has its own.")
    ] = ()
    figures: Annotated[
        tuple[Name, ...], Field(description="Figures drawn by workflow/figures/<paper>/<figure>.py.")
    ] = ()
    table: Annotated[bool, Field(description="Whether the metrics are summarised as a table.")] = True
    reads: Annotated[
        tuple[str, ...], Field(description="Other experiments whose metrics the figures also show.")
    ] = ()
    scales: Annotated[
        dict[Scale, Change], Field(description="For each scale, what it changes; paper changes nothing.")
    ] = Field(default_factory=dict)


class PlannedCell(NamedTuple):
    """A cell in its place: the settings are complete, the labels are what tells it from its siblings."""

    experiment: str
    name: str
    arm: str
    labels: dict[str, Any]
    settings: Method | Study

    @property
    def is_study(self) -> bool:
        """Whether the cell needs neither data nor a fit."""
        return not isinstance(self.settings, Cell)


class Choice(NamedTuple):
    """The values a key takes, and the name under which a user finds them in the file."""

    values: list[Any]
    origin: str
    varies: bool


def cross(path: Path, experiment: Experiment, scale: Scale) -> list[PlannedCell]:
    """Cross the grid of every arm into cells at one scale."""
    change = experiment.scales.get(scale, Change())
    for stated in {*change.arms, *change.without} - experiment.arms.keys():
        raise InputError(f"{path}: scales.{scale} changes an arm {stated} that the experiment does not have")
    arms = {arm: part for arm, part in experiment.arms.items() if arm not in change.without}
    if experiment.arms and not arms:
        raise InputError(f"{path}: scales.{scale}.without leaves no arm to run")
    arms = arms or {"main": Part()}
    choices = {
        arm: _choices(
            path,
            {
                "": experiment,
                f"arms.{arm}.": part,
                f"scales.{scale}.": change,
                f"scales.{scale}.arms.{arm}.": change.arms.get(arm, Part()),
            },
        )
        for arm, part in arms.items()
    }
    varying = {key for stated in choices.values() for key, choice in stated.items() if choice.varies}
    cells = [cell for arm, stated in choices.items() for cell in _cells(path, arm, stated, sorted(varying))]
    _refuse_duplicates(path, cells)
    _refuse_unevaluated(path, experiment, cells)
    return cells


def _choices(path: Path, layers: Mapping[str, Part]) -> dict[str, Choice]:
    """Flatten layers, outermost first, to one dictionary of dotted keys."""
    choices: dict[str, Choice] = {}
    for prefix, part in layers.items():
        for section, table in (("data", part.data), ("model", part.model), ("base", part.base)):
            for key, value in table.items():
                name = key if section == "base" else f"{section}.{key}"
                choices[name] = Choice([value], f"{prefix}{section}.{key}", varies=False)
        for key, values in part.grid.items():
            if not values:
                raise InputError(f"{path}: {prefix}grid.{key} is empty, but should list at least one value")
            choices[key] = Choice(values, f"{prefix}grid.{key}", varies=True)
    return choices


def _cells(path: Path, arm: str, choices: Mapping[str, Choice], varying: list[str]) -> Iterator[PlannedCell]:
    origins = {key: choice.origin for key, choice in choices.items()}
    grid = [key for key, choice in choices.items() if choice.varies]
    for values in itertools.product(*(choice.values for choice in choices.values())):
        flat = dict(zip(choices, values, strict=True))
        settings = parse(Study if "study" in flat else Method, _nest(flat), path, origins)
        name = "-".join([arm, *(f"{key.split('.')[-1]}={_slug(flat[key])}" for key in grid)])
        yield PlannedCell(path.stem, name, arm, {key: flat.get(key) for key in varying}, settings)


def _nest(flat: Mapping[str, Any]) -> Table:
    nested: Table = {}
    for key, value in flat.items():
        section, _, inner = key.rpartition(".")
        (nested.setdefault(section, {}) if section else nested)[inner] = value
    return nested


def _slug(value: Any) -> str:
    """A part of a file name for a value."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return re.sub(r"[^A-Za-z0-9.+_-]", "_", text)


def _refuse_duplicates(path: Path, cells: list[PlannedCell]) -> None:
    seen: dict[Any, str] = {}
    for cell in cells:
        for key in (cell.name, repr(cell.settings)):
            if key in seen:
                raise InputError(
                    f"{path}: the cells {seen[key]} and {cell.name} are the same: state each only once"
                )
            seen[key] = cell.name


def _refuse_unevaluated(path: Path, experiment: Experiment, cells: list[PlannedCell]) -> None:
    fits = [cell for cell in cells if not cell.is_study]
    if fits and len(fits) < len(cells):
        raise InputError(f"{path}: {fits[0].name} is a fit among studies: an experiment has one kind of cell")
    if bool(fits) != bool(experiment.metrics):
        raise InputError(f"{path}: metrics should name what is evaluated of fits, and be left out of studies")
    names = {cell.settings.model.name for cell in fits if isinstance(cell.settings, Cell)}
    wrong = [metric for metric in experiment.metrics if metric in OF_OUTCOMES]
    if wrong and "mixture" in names:
        raise InputError(f"{path}: metrics names {wrong[0]}, but the model mixture predicts no outcome")
    for metric in experiment.metrics:
        if metric in OF_MODELS and names != {OF_MODELS[metric]}:
            raise InputError(f"{path}: metrics names {metric}, which only the model {OF_MODELS[metric]} has")
    along = [metric for metric in experiment.metrics if metric in ALONG]
    if along and any(isinstance(cell.settings, Cell) and cell.settings.record_every is None for cell in fits):
        raise InputError(f"{path}: metrics names {along[0]}, which goes along a run and needs record_every")
