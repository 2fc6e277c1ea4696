"""Settings of a whole run, from `config/config.yaml` and `--config`; and the experiments that it names."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field
from pydantic.dataclasses import dataclass

from dpinfer.errors import InputError
from pipeline.settings.base import STRICT, Count, Scale, Seed
from pipeline.settings.cell import Cell
from pipeline.settings.experiment import Experiment, PlannedCell, cross
from pipeline.settings.study import TIMED
from pipeline.settings.yaml import parse, read, suggest

Device = Literal["auto", "cpu", "gpu"]

DEFAULT_SCALE: Scale = "laptop"
WHERE = "config/config.yaml or --config"
Named = tuple[str, str]
"""An experiment, and the place that names it."""


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Project:
    """What is run, how large, on what, and where its results go."""

    scale: Annotated[
        Scale,
        Field(description="smoke: minutes for everything; laptop: two CPU cores; paper: the papers' own size."),
    ] = DEFAULT_SCALE
    seed: Annotated[
        Seed,
        Field(description="Every random number of every fit follows from it."),
    ] = 0
    experiments: Annotated[
        Literal["all"] | tuple[str, ...],
        Field(description="all, or a list of experiments by name (the name of the file without .yaml)."),
    ] = "all"
    data_dir: Annotated[
        str | None,
        Field(description="Folder with data files of your own copy; looked into before anything is fetched."),
    ] = None
    results_dir: Annotated[
        str | None,
        Field(description="Where results go; by default results, or results/<scale> if not laptop."),
    ] = None
    shards: Annotated[
        Count,
        Field(description="How many jobs the cells of an experiment are cut into; 1 is best on one machine."),
    ] = 1
    device: Annotated[Device, Field(description="What JAX computes on; auto takes a GPU where there is one.")] = (
        "auto"
    )

    @property
    def results(self) -> str:
        """The results folder; scales keep apart, so that a smoke run never overwrites a longer one."""
        default = "results" if self.scale == DEFAULT_SCALE else f"results/{self.scale}"
        return self.results_dir or default


class PlannedExperiment(NamedTuple):
    """An experiment with its cells at the scale of the run."""

    name: str
    paper: str
    settings: Experiment
    cells: dict[str, PlannedCell]

    @property
    def file(self) -> str:
        """Where its settings are."""
        return f"config/experiments/{self.paper}/{self.name}.yaml"

    @property
    def is_study(self) -> bool:
        """Whether its cells need neither data nor a fit."""
        return all(cell.is_study for cell in self.cells.values())

    @property
    def is_timed(self) -> bool:
        """Whether its cells measure time, so that nothing else should run beside them."""
        return all(isinstance(cell.settings, TIMED) for cell in self.cells.values())


def choose(root: Path, project: Project) -> dict[str, PlannedExperiment]:
    """The experiments that a run names and those that they need, each crossed into cells at its scale."""
    files = _files(root)
    wanted = files if project.experiments == "all" else project.experiments
    if not wanted:
        raise InputError(f"{WHERE}: experiments is empty, but should be all or a list of names")
    asked = [(name, f"{WHERE}: experiments") for name in wanted]
    chosen = _with_needed(lambda name, where: _planned(root, files, name, where, project), asked)
    for planned in chosen.values():
        for cell in planned.cells.values():
            _refuse_missing_start(chosen, planned.file, cell)
    return chosen


def _with_needed(
    plan: Callable[[str, str], PlannedExperiment], asked: Iterable[Named]
) -> dict[str, PlannedExperiment]:
    """The experiments that are asked for, then those whose metrics or fits they need, and so on."""
    chosen: dict[str, PlannedExperiment] = {}
    pending = deque(asked)
    while pending:
        name, where = pending.popleft()
        if name not in chosen:
            chosen[name] = plan(name, where)
            pending += _needed(chosen[name])
    return chosen


def _needed(planned: PlannedExperiment) -> Iterator[Named]:
    """The experiments that one names by `reads` or `start_from`."""
    yield from ((name, f"{planned.file}: reads") for name in planned.settings.reads)
    for cell in planned.cells.values():
        if isinstance(cell.settings, Cell) and cell.settings.start_from is not None:
            yield cell.settings.start_from.experiment, f"{planned.file}: start_from"


def _refuse_missing_start(chosen: Mapping[str, PlannedExperiment], where: str, cell: PlannedCell) -> None:
    earlier = cell.settings.start_from if isinstance(cell.settings, Cell) else None
    if earlier is None:
        return
    found = chosen[earlier.experiment].cells.get(earlier.cell)
    if found is None or not isinstance(found.settings, Cell):
        raise InputError(
            f"{where}: start_from names the cell {earlier.cell} of {earlier.experiment}, which has no such fit"
        )
    if isinstance(cell.settings, Cell) and found.settings.data != cell.settings.data:
        raise InputError(
            f"{where}: start_from names a fit to other data, whose privacy cost these records do not bear"
        )


def _planned(root: Path, files: Mapping[str, Path], name: str, where: str, project: Project) -> PlannedExperiment:
    if name not in files:
        raise InputError(f"{where} names {name}, but there is no such experiment{suggest(name, files)}")
    path = files[name].relative_to(root)
    settings = parse(Experiment, read(files[name]), path)
    cells = {cell.name: cell for cell in cross(path, settings, project.scale)}
    return PlannedExperiment(name, path.parent.name, settings, cells)


def _files(root: Path) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for path in sorted((root / "config/experiments").glob("*/*.yaml")):
        if path.stem in files:
            shown = (path.relative_to(root), files[path.stem].relative_to(root))
            raise InputError(f"{shown[0]}: {shown[1]} has the same name already")
        files[path.stem] = path
    if not files:
        raise InputError("config/experiments: there is no experiment to run")
    return files
