"""Bound the epsilon of a chain of noisy Barker tests (DP-MCMC), by the paper's theorem and by sharper means.

The noise of a test is that of the paper (variance 2 with the correction), its batch is drawn without
replacement, and neighbours differ in the value of one record.
"""

import argparse
from typing import Any

from dpinfer.accounting import accountant
from dpinfer.accounting.base import Bound
from dpinfer.accounting.events import Barker, Repeat
from dpinfer.commands import options, show, values
from dpinfer.errors import InputError

# The paper's code looks at the orders below this.
PAPER_ORDER = 100
METHODS = ("theorem 2", "certified", "pld")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer barker`."""
    parser.add_argument("--batch", type=values.count, required=True, metavar="B", help="records in one test")
    parser.add_argument("--records", type=values.count, required=True, metavar="N", help="size of the data set")
    parser.add_argument("--steps", type=values.count, required=True, metavar="T", help="number of tests")
    parser.add_argument("--delta", type=values.delta, required=True, metavar="D", help="delta of the guarantee")
    options.add_max_order(parser, f"largest order of the two Renyi bounds (default: {PAPER_ORDER}, the paper's)")
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> None:
    """Print the theorem, the certified Renyi bound and the bound from privacy-loss distributions."""
    chain = Repeat(Barker(arguments.batch, arguments.records), arguments.steps)
    rows = [
        _row(method, chain, arguments.delta, arguments.max_order or PAPER_ORDER) | {"delta": arguments.delta}
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
    print(show.table(("bound", "epsilon", "how, or why not"), cells, 2))


def _row(method: str, chain: Repeat, delta: float, max_order: int) -> dict[str, Any]:
    try:
        bound = _bound(method, chain, delta, max_order)
    except InputError as refusal:
        return {"bound": method, "epsilon": None, "refused": str(refusal)}
    return {"bound": method, "epsilon": bound.upper, "detail": bound.detail}


def _bound(method: str, chain: Repeat, delta: float, max_order: int) -> Bound:
    if method == "pld":
        return accountant("pld").epsilon(chain, delta, "replace-one")
    module: Any = accountant("barker")
    name = "certified" if method == "certified" else "theorem"
    found: Bound = module.epsilon(chain, delta, "replace-one", method=name, max_order=max_order)
    return found
