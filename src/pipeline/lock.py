"""Who is at work in a folder: a lock that the system drops when its holder dies, as Snakemake's own is not."""

import fcntl
from contextlib import suppress
from pathlib import Path
from typing import IO

from dpinfer.errors import InputError

STATE = Path(".snakemake")
NAME = "pipeline.lock"


def alone(state: Path = STATE) -> IO[str]:
    """Be the only one at work here for as long as the file is open.

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
