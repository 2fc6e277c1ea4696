"""Compare what every accountant says of one run, or why it refuses."""

import argparse
from typing import Any

from dpinfer.cli import options, show
from dpinfer.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer accountants`."""
    options.add_setting(parser)
    options.add_max_order(parser, f"largest order, for {', '.join(options.WITH_ORDERS)}")
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> None:
    """Print one row for each accountant."""
    # The default accountant takes every setting: what it refuses is wrong in itself.
    options.read(arguments, accountant="pld", max_order=None)
    rows = [ask(arguments, name) for name in options.ACCOUNTANTS]
    if arguments.json:
        print(show.json(rows))
        return
    header = ("accountant", "epsilon", "lower", "how, or why not")
    print(show.table(header, [_cells(row) for row in rows], words=(0, 3)))


def ask(arguments: argparse.Namespace, name: str) -> dict[str, Any]:
    """Return the answer of one accountant as plain data, or its refusal."""
    max_order = arguments.max_order if name in options.WITH_ORDERS else None
    try:
        setting = options.read(arguments, accountant=name, max_order=max_order)
        return setting.describe(setting.bound())
    except InputError as refusal:
        return {"accountant": name, "epsilon": None, "refused": str(refusal)}


def _cells(row: dict[str, Any]) -> tuple[str, str, str, str]:
    if row["epsilon"] is None:
        return row["accountant"], "-", "-", row["refused"]
    lower = "-" if row["epsilon_lower"] is None else show.down(row["epsilon_lower"])
    return row["accountant"], show.up(row["epsilon"]), lower, row["detail"]
