"""The experiments of a run, read from `config/experiments`."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from dpinfer.errors import InputError
from dpinfer.settings.cell import Cell
from dpinfer.settings.experiment import Experiment, PlannedCell, cross
from dpinfer.settings.explain import suggest
from dpinfer.settings.project import Project
from dpinfer.settings.study import TIMED
from dpinfer.settings.yaml import parse, read


class Planned(NamedTuple):
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


def choose(root: Path, project: Project) -> dict[str, Planned]:
    """The experiments that a run names, by name, each crossed into cells at its scale."""
    files = _files(root)
    wanted = files if project.experiments == "all" else project.experiments
    if not wanted:
        raise InputError(
            "config/config.yaml or --config: experiments is empty, but should be all or a list of names"
        )
    chosen = {name: _planned(root, files, name, project) for name in wanted}
    _refuse_missing(chosen)
    return chosen


def _refuse_missing(chosen: Mapping[str, Planned]) -> None:
    """Refuse experiments that need others which are not run."""
    for planned in chosen.values():
        for other in planned.settings.reads:
            if other not in chosen:
                raise InputError(
                    f"{planned.file}: reads names {other}, which is not among the experiments of this run"
                )
        for cell in planned.cells.values():
            _refuse_missing_start(chosen, planned.file, cell)


def _refuse_missing_start(chosen: Mapping[str, Planned], where: str, cell: PlannedCell) -> None:
    earlier = cell.settings.start_from if isinstance(cell.settings, Cell) else None
    if earlier is None:
        return
    if earlier.experiment not in chosen:
        raise InputError(
            f"{where}: start_from names {earlier.experiment}, which is not among the experiments of this run"
        )
    found = chosen[earlier.experiment].cells.get(earlier.cell)
    if found is None or not isinstance(found.settings, Cell):
        raise InputError(
            f"{where}: start_from names the cell {earlier.cell} of {earlier.experiment}, which has no such fit"
        )
    if isinstance(cell.settings, Cell) and found.settings.data != cell.settings.data:
        raise InputError(
            f"{where}: start_from names a fit to other data, whose privacy cost these records do not bear"
        )


def _planned(root: Path, files: Mapping[str, Path], name: str, project: Project) -> Planned:
    if name not in files:
        raise InputError(f"config/config.yaml or --config: there is no experiment {name}{suggest(name, files)}")
    path = files[name].relative_to(root)
    settings = parse(Experiment, read(files[name]), path)
    cells = {cell.name: cell for cell in cross(path, settings, project.scale)}
    return Planned(name, path.parent.name, settings, cells)


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
