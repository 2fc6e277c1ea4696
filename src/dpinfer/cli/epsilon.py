"""Bound the epsilon of a run: how much it may reveal about one record."""

import argparse

from dpinfer.cli import options, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer epsilon`."""
    options.add_setting(parser)
    options.add_accountant(parser)
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> None:
    """Print the bound, with a lower bound where the accountant has one."""
    setting = options.read(arguments)
    bound = setting.bound()
    print(show.json(setting.describe(bound)) if arguments.json else show.answer(setting, bound))
