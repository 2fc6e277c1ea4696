"""Artifacts that were cut short: by a full disk, a failing one or by hand, since stages write each as a whole."""

import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from dpinfer.atomic import read_json
from pipeline.artifacts import Artifacts

FOLDERS = (
    "data", "corrections", "calibration", "fits", "accounts", "metrics", "figures", "tables", "tasks", "index",
)  # fmt: skip
"""Below the results, where artifacts are kept; environments, logs and benchmarks are none."""
PAGES = ("scorecard", "report")
OF_CELLS: dict[str, Callable[[Artifacts, str, str], list[Path]]] = {
    "calibrate": lambda kept, experiment, cell: [kept.calibration(experiment, cell)],
    "fit": lambda kept, experiment, cell: [kept.fit(experiment, cell), kept.stamp(experiment, cell)],
    "account": lambda kept, experiment, cell: [kept.account(experiment, cell)],
}
"""The artifacts of a cell, by the stage that makes them."""
LAST_BYTES = {
    ".json": b"}\n",
    ".csv": b"\n",
    ".md": b"\n",
    ".pdf": b"%%EOF\n",
    ".png": b"IEND\xaeB`\x82",
    ".html": b"</html>",
}
"""What a whole file ends with."""


def is_dry_run(arguments: Sequence[str]) -> bool:
    """Whether Snakemake was called to say what it would do, as by `snakemake -n`."""
    return any(
        word in ("--dry-run", "--dryrun") or re.fullmatch("-[a-zA-Z]*n[a-zA-Z]*", word) for word in arguments
    )


def recover(artifacts: Artifacts) -> Iterator[str]:
    """Have made again what was cut short, or taken away from cells that were made; says what was done.

    Snakemake knows the shards of an experiment, not its cells: those of a shard whose list is gone are looked at.
    """
    for path in damaged(artifacts.results):
        yield f"{path} was cut short: it is made again, and kept as {set_aside(path).name}."
    for stage, files in OF_CELLS.items():
        for index in sorted((artifacts.results / "index" / stage).rglob("*.json")):
            lost = [
                path for cell in read_json(index) for path in files(artifacts, index.parent.name, cell)
                if not path.is_file()
            ]  # fmt: skip
            if lost:
                index.unlink()
                yield f"{lost[0]} is not there any more: it is made again."


def damaged(results: Path) -> Iterator[Path]:
    """Artifacts whose end is missing.

    Only the end of each file is read. A table that was cut after a whole line is taken for whole.
    """
    files = [path for name in PAGES for path in results.glob(f"{name}.*")]
    files += [path for name in FOLDERS for path in sorted((results / name).rglob("*.*"))]
    for path in files:
        if path.is_file() and not path.name.startswith(".") and not _ends(path):
            yield path


def set_aside(path: Path) -> Path:
    """Rename a file, so that it is made again; nothing is removed, since somebody else may have put it there."""
    return path.replace(path.with_name(f"{path.name}.damaged"))


def _ends(path: Path) -> bool:
    if path.suffix == ".npz":
        # The list of a zip file's members is at its end.
        return zipfile.is_zipfile(path)
    end = LAST_BYTES.get(path.suffix, b"")
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - len(end)))
        return file.read() == end
