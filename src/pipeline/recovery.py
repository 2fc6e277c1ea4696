"""What killed runs leave behind: artifacts that were cut short, and locks, which a living run alone may hold."""

import fcntl
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from dpinfer.atomic import read_json
from dpinfer.errors import InputError
from pipeline.artifacts import Artifacts

STATE = Path(".snakemake")
NAME = "pipeline.recovery"
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


def hold(state: Path = STATE) -> IO[str]:
    """Take the lock for as long as the file is open: nobody else is at work here.

    Raises:
        InputError: Somebody else is at work.
    """
    lock = _open(state)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise InputError(f"another run is at work in {Path.cwd().name}; wait for it or stop it") from error
    return lock


def share(state: Path = STATE) -> IO[str]:
    """Say that a run is at work here for as long as the file is open."""
    lock = _open(state)
    make_shared(lock)
    return lock


def make_shared(lock: IO[str]) -> None:
    """Let others say so, too: it is Snakemake's own lock that decides between runs that are alive.

    Where this is denied, somebody is about to start a run, or the file system, as some that are shared over a
    network, knows no such locks.
    """
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)


def _open(state: Path) -> IO[str]:
    state.mkdir(exist_ok=True)
    return (state / NAME).open("w")


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
