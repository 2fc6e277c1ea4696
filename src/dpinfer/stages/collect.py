"""Join the metrics of an experiment's cells into one file."""

import argparse
from pathlib import Path

import pandas as pd

from dpinfer.atomic import replacing
from dpinfer.provenance import Stamp


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer collect`."""
    parser.add_argument("cells", nargs="+", type=Path, help="the .csv of each cell")
    parser.add_argument("--output", type=Path, required=True, help="the .csv to write; a .json stands beside it")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write all rows in the order of the cells."""
    stamp = Stamp(arguments.code)
    metrics = pd.concat([pd.read_csv(path) for path in arguments.cells], ignore_index=True)
    with replacing(arguments.output) as temporary:
        metrics.to_csv(temporary, index=False)
    stamp.write(arguments.output.with_suffix(".json"), cells=[path.stem for path in arguments.cells])
