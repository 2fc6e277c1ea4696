"""The command line: `dpinfer <verb> ...`, one module of `dpinfer.commands` or `dpinfer.stages` for each verb."""

import argparse
import importlib
import logging
import os
import signal
import sys
from collections.abc import Sequence

from dpinfer import machine
from dpinfer.errors import InputError

COMMANDS = {
    "epsilon": "bound the epsilon of a run",
    "sigma": "find the least noise for a budget",
    "steps": "find the most steps for a budget",
    "rate": "find the largest sampling rate or batch for a budget",
    "accountants": "compare all accountants on one run",
    "barker": "bound the epsilon of a chain of Barker tests (DP-MCMC)",
    "own": "fit your own NumPyro model to your own table, privately",
    "audit": "run the mechanisms on worst-case neighbours, and bound epsilon from below",
    "advise": "weigh privacy against noise for a data set, and see what an attacker gains",
}
STAGES = {
    "run": "run the pipeline with Snakemake, after clearing a lock that a killed run left behind",
    "data": "fetch or generate a data set",
    "correction": "fit what a normal variable lacks to be logistic, for Barker tests",
    "calibrate": "find the noise for a cell's privacy target",
    "fit": "run a cell's algorithm for all its seeds",
    "study": "compute an experiment that needs neither data nor a fit",
    "evaluate": "compute the metrics of an experiment's cells",
    "figure": "draw a figure from metrics",
    "table": "summarise an experiment's metrics as a table",
    "scorecard": "hold every claim of the papers against the metrics",
    "report": "write one page with the scorecard and every figure",
    "gallery": "write small pictures of all figures, with their claims",
    "pages": "write the pages of the documentation that are made from code and config",
    "schema": "write the JSON schemas of the config files",
}
GROUPS = {"for you": COMMANDS, "stages of the pipeline": STAGES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; wrong input, or a file that cannot be had, is one sentence and exit code 2."""
    chosen = _parser().parse_args(arguments)
    logging.basicConfig(format="%(message)s")
    logging.getLogger("dpinfer").setLevel(logging.INFO)
    machine.prepare(chosen.device)
    # Verbs are imported one at a time: most need neither JAX nor the accountants.
    package = "commands" if chosen.verb in COMMANDS else "stages"
    stage = importlib.import_module(f"dpinfer.{package}.{chosen.verb}")
    parser = argparse.ArgumentParser(prog=f"dpinfer {chosen.verb}", description=stage.__doc__)
    stage.add_arguments(parser)
    for word in chosen.rest:
        # Python 3.11 takes this for no value at all, and hands on an empty list.
        if word.startswith("--") and word.endswith("=--"):
            parser.error(f"argument {word.partition('=')[0]}: expected one argument")
    understood, others = parser.parse_known_args(chosen.rest)
    if others and not hasattr(understood, "others"):
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    understood.others, understood.device = others, chosen.device
    try:
        machine.require(chosen.device)
        code = stage.main(understood) or 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough: nothing is left to be written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"dpinfer {chosen.verb}: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except (InputError, OSError) as error:
        print(f"dpinfer {chosen.verb}: {_sentence(error, understood)}", file=sys.stderr)
        return 2


def _sentence(error: InputError | OSError, understood: argparse.Namespace) -> str:
    """What is wrong; a file that cannot be read or written is the user's to mend, as wrong input is."""
    if isinstance(error, InputError):
        return str(error)
    # When a disk is full, the system does not say which file was being written.
    where = error.filename or getattr(understood, "output", None)
    return ": ".join(str(part) for part in (where, error.strerror or error) if part)


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS | STAGES))
    listing = "\n\n".join(
        "\n".join([f"{title}:", *(f"  {verb:<{width}}  {purpose}" for verb, purpose in verbs.items())])
        for title, verbs in GROUPS.items()
    )
    parser = argparse.ArgumentParser(
        prog="dpinfer",
        description="Differentially private Bayesian inference: privacy accounting, and the pipeline.",
        epilog=f"{listing}\n\n`dpinfer <verb> --help` explains one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--device",
        choices=machine.PLATFORMS,
        default=os.environ.get(machine.DEVICE, "auto"),
        help=f"what JAX computes on (default: {machine.DEVICE} or auto)",
    )
    parser.add_argument("verb", choices=COMMANDS | STAGES, metavar="verb")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser
