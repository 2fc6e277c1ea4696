"""Fit your own NumPyro model to your own table, privately.

The model's parameters are columns of the table, by name; `x`, if no column is called so, is all others as a
matrix. An outcome is None by default. The file may also define `guide`, with the same parameters, and LEVELS, the
values of columns of text. What is written may be released, but for the folder `unprotected`.
"""

import argparse
import math
from pathlib import Path

from dpinfer import machine
from dpinfer.accounting.events import ADJACENCIES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer fit`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("model", type=Path, help="Python file with a NumPyro model")
    parser.add_argument("data", type=Path, help="table of records, as CSV with a header")
    parser.add_argument("--epsilon", type=float, required=True, help="largest epsilon")
    parser.add_argument("--delta", type=float, required=True, help="its delta; well below 1 / records")
    parser.add_argument("--output", type=Path, default=Path("posterior"), help="new folder (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=2000, help="of the optimiser (default: %(default)s)")
    parser.add_argument("--batch", type=float, default=100, help="expected records in one (default: %(default)s)")
    parser.add_argument(
        "--clip",
        type=float,
        default=3.0,
        help="of a record's gradient; a regression on k inputs between -1 and 1 needs about the root of k "
        "(default: %(default)s)",
    )
    parser.add_argument("--learning-rate", type=float, default=0.01, help="of Adam (default: %(default)s)")
    parser.add_argument("--adjacency", choices=ADJACENCIES, default="add-remove", help="(default: %(default)s)")
    parser.add_argument(
        "--records", type=int, metavar="N",
        help="public number of records, near which that of the table lies; without it, the table's own counts as "
        "public, and neighbours have a record that counts nothing (zero-out) instead of none (add-remove)",
    )  # fmt: skip
    parser.add_argument(
        "--budget", type=float, default=math.inf, metavar="E",
        help="refuse a fit with which all fits of these records cost more than this epsilon",
    )  # fmt: skip
    parser.add_argument(
        "--ledgers", type=Path, metavar="FOLDER",
        help="where is kept what each table has cost (default: dpinfer/ledgers among the user's state files)",
    )  # fmt: skip
    parser.add_argument("--draws", type=int, default=1000, help="from the posterior (default: %(default)s)")
    parser.add_argument(
        "--seed",
        type=int,
        help="for trials alone; by default noise is by ChaCha20 with a key out of the system's entropy, on a grid",
    )
    parser.add_argument("--synthetic", action="store_true", help="also draw a synthetic twin of the table")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done and its cost, and stop")


def main(arguments: argparse.Namespace) -> None:
    """Calibrate, fit and write; nothing is written before the fit has ended."""
    # NumPyro is imported only where it is used, so that help is quick.
    from dpinfer.table import session

    machine.require(arguments.device)
    session.run(arguments)
