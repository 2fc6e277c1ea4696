"""Run Snakemake with the given arguments, after clearing a lock that a killed run left behind."""

import argparse
import sys

from pipeline import group, lock


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline run`."""
    parser.epilog = "All arguments are handed to snakemake as they are."
    parser.set_defaults(others=[])


def main(arguments: argparse.Namespace) -> int:
    """Run Snakemake, unless somebody else is at work here.

    Snakemake's lock is a file that outlives a killed run. Ours, which every run of this project's Snakefile holds,
    dies with it: having ours to ourselves proves that Snakemake's, if there is one, is stale.
    """
    snakemake = [sys.executable, "-m", "snakemake"]
    with lock.alone() as held:
        if any((lock.STATE / "locks").glob("*")):
            code = group.run([*snakemake, "--unlock", "--quiet", "all"])
            if code > 128:
                return code
        lock.make_shared(held)
        return group.run([*snakemake, *arguments.others])
