"""Bound the epsilon of a chain of noisy Barker tests (DP-MCMC), by the paper's theorem and by sharper means.

The noise of a test is that of the paper (variance 2 with the correction), its batch is drawn without
replacement, and neighbours differ in the value of one record.
"""

import argparse
from typing import Any

from dpinfer.accounting import accountant
from dpinfer.accounting.base import Bound
from dpinfer.accounting.events import Barker, Repeat
from dpinfer.cli import options, show, values
from dpinfer.errors import InputError

# The paper's code looks at orders below 100; the sharper divergence gains by larger ones.
MAX_ORDER = {"theorem": 100, "certified": 512}
METHODS = ("theorem", "certified", "pld")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer barker`."""
    parser.add_argument("--batch", type=values.count, required=True, metavar="B", help="records in one test")
    parser.add_argument("--records", type=values.count, required=True, metavar="N", help="size of the data set")
    parser.add_argument("--steps", type=values.count, required=True, metavar="T", help="number of tests")
    parser.add_argument("--delta", type=values.delta, required=True, metavar="D", help="delta of the guarantee")
    known = ", ".join(f"{order} for the {method}" for method, order in MAX_ORDER.items())
    options.add_max_order(parser, f"largest order of the two Renyi bounds (default: {known})")
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> None:
    """Print the theorem, the certified Renyi bound and the bound from privacy-loss distributions."""
    chain = Repeat(Barker(arguments.batch, arguments.records), arguments.steps)
    rows = [
        _row(method, chain, arguments.delta, arguments.max_order) | {"delta": arguments.delta}
        for method in METHODS
    ]
    if arguments.json:
        print(show.json(rows))
        return
    rate = show.up(arguments.batch / arguments.records)
    print(f"{arguments.steps} tests, sampling rate {rate}, delta {show.up(arguments.delta)}, replace-one")
    cells = [
        (row["bound"], "-", row["refused"])
        if row["epsilon"] is None
        else (row["bound"], show.up(row["epsilon"]), row["detail"])
        for row in rows
    ]
    print(show.table(("bound", "epsilon", "how, or why not"), cells, words=(0, 2)))


def _row(method: str, chain: Repeat, delta: float, max_order: int | None) -> dict[str, Any]:
    try:
        bound = _bound(method, chain, delta, max_order)
    except InputError as refusal:
        return {"bound": method, "epsilon": None, "refused": str(refusal)}
    return {"bound": method, "epsilon": bound.upper, "detail": bound.detail}


def _bound(method: str, chain: Repeat, delta: float, max_order: int | None) -> Bound:
    if method == "pld":
        return accountant("pld").epsilon(chain, delta, "replace-one")
    module: Any = accountant("barker")
    most = MAX_ORDER[method] if max_order is None else max_order
    found: Bound = module.epsilon(chain, delta, "replace-one", method=method, max_order=most)
    return found
