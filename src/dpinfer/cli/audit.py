"""Audit the mechanisms of this library: run them on worst-case neighbours, and bound epsilon from below.

The first of them are algorithms of `dpinfer.inference`, as papers run them. dpsvi_*, training* and own* are calls
that users make, up to what they release; they have no eps_paper, and eps_sound is what the call itself says it
costs.

A bound above eps_sound, which is what a sound accountant says of the steps that are run, means that the library is
broken: the exit code is 1 then. A bound above eps_paper alone refutes the account of the paper. A bound below both
proves nothing, but how near it comes to them shows what the audit would have noticed.
"""

import argparse
from typing import Any

from dpinfer import machine
from dpinfer.audit.names import CONFIDENCE, MECHANISMS, MOST_OF_USERS, TRIALS, Mechanism
from dpinfer.cli import options, show, values
from dpinfer.errors import InputError

HEADER = ("mechanism", "lower bound", "confidence", "eps_paper", "eps_sound", "verdict", "neighbours")
WORDS = (0, 5, 6)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer audit`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "mechanisms", nargs="*", metavar="mechanism", help=f"all by default, or some of {', '.join(MECHANISMS)}"
    )
    parser.add_argument(
        "--trials", type=values.count, default=TRIALS, metavar="N",
        help="runs on each of two neighbouring data sets (default: %(default)s); of users' calls, where "
        f"each record counts as one, {MOST_OF_USERS} at most",
    )  # fmt: skip
    parser.add_argument(
        "--confidence", type=values.share, default=CONFIDENCE, metavar="P",
        help="probability with which each bound holds (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--seed",
        type=values.seed,
        default=0,
        metavar="S",
        help="of all runs but own_release's (default: %(default)s)",
    )
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    """Print one row for each mechanism; 1 if a bound exceeds what is said to be sound."""
    for name in arguments.mechanisms:
        if name not in MECHANISMS:
            raise InputError(f"the mechanism is {name!r}, but should be one of {', '.join(MECHANISMS)}")
    rows = [_row(name, arguments) for name in arguments.mechanisms or MECHANISMS]
    print(show.json(rows) if arguments.json else show.table(HEADER, [_cells(row) for row in rows], WORDS))
    return int(any(row["is_refuted"] for row in rows))


def _row(name: Mechanism, arguments: argparse.Namespace) -> dict[str, Any]:
    # JAX is imported only where it is used, so that help is quick.
    import jax

    from dpinfer.audit.case import audit
    from dpinfer.audit.cases import CASES

    machine.require(arguments.device)
    case = CASES[name]()
    found = audit(case, jax.random.key(arguments.seed), arguments.trials, arguments.confidence)
    return {
        "mechanism": name,
        "neighbours": case.neighbours,
        "adjacency": found.adjacency,
        "delta": found.delta,
        "confidence": arguments.confidence,
        **found.lower._asdict(),
        "eps_paper": found.eps_paper,
        "eps_sound": found.eps_sound,
        "verdict": found.verdict,
        "is_refuted": found.is_refuted,
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    epsilons = ("-" if row["eps_paper"] is None else show.up(row["eps_paper"]), show.up(row["eps_sound"]))
    told = (row["mechanism"], show.down(row["epsilon"]), f"{row['confidence']:g}", *epsilons)
    return (*told, row["verdict"], row["neighbours"])
