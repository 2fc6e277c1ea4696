"""Run Snakemake with the given arguments, after clearing a lock that a killed run left behind."""

import argparse
import subprocess
import sys
from contextlib import suppress

from dpinfer import lock


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer run`."""
    parser.epilog = "All arguments are handed to snakemake as they are."
    parser.set_defaults(others=[])


def main(arguments: argparse.Namespace) -> int:
    """Run Snakemake, unless somebody else is at work here.

    Snakemake's lock is a file that outlives a killed run. Ours, which every run of this project's Snakefile holds,
    dies with it: having ours to ourselves proves that Snakemake's, if there is one, is stale.
    """
    with lock.alone() as held:
        if any((lock.STATE / "locks").glob("*")):
            _snakemake("--unlock", "--quiet", "all")
        lock.make_shared(held)
        return _snakemake(*arguments.others)


def _snakemake(*arguments: str) -> int:
    with subprocess.Popen([sys.executable, "-m", "snakemake", *arguments]) as process:
        while True:
            # Ctrl-C reaches Snakemake as well, which stops its jobs and tidies up: let it.
            with suppress(KeyboardInterrupt):
                return process.wait()
