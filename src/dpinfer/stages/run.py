"""Run Snakemake with the given arguments, after clearing a lock that a killed run left behind."""

import argparse
import fcntl
import subprocess
import sys
from pathlib import Path

from dpinfer.errors import InputError

STATE = Path(".snakemake")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer run`."""
    parser.epilog = "All arguments are handed to snakemake as they are."
    parser.set_defaults(others=[])


def main(arguments: argparse.Namespace) -> int:
    """Run Snakemake while holding a lock of our own, which the system drops when this process dies.

    Snakemake's lock is a file that outlives a killed run. Holding ours proves that nobody else who came this
    way is running, so that Snakemake's lock, if there is one, is stale.
    """
    STATE.mkdir(exist_ok=True)
    with (STATE / "dpinfer.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(f"another run is at work in {Path.cwd().name}; wait for it or stop it") from error
        if any((STATE / "locks").glob("*")):
            _snakemake("--unlock", "--quiet", "all")
        return _snakemake(*arguments.others)


def _snakemake(*arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", "snakemake", *arguments], check=False).returncode
