"""Find how many steps a budget allows."""

import argparse

from dpinfer.accounting import calibrate
from dpinfer.cli import options, show, values


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer steps`."""
    options.add_target(parser)
    options.add_setting(parser, sought="num_steps")
    options.add_accountant(parser)
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> None:
    """Print the largest number of steps within the budget, and the epsilon they cost."""
    setting = options.read(arguments, num_steps=1)
    num_steps = calibrate.num_steps(
        arguments.epsilon,
        setting.delta,
        lambda count: setting.event(num_steps=count),
        setting.adjacency,
        setting.accountant,
        **setting.options(),
    )
    bound = setting.bound(num_steps=num_steps)
    if arguments.json:
        print(show.json({"num_steps": num_steps, **setting.describe(bound)}))
        return
    more = ", and more: the search ends here" if num_steps == values.MOST_COUNT else ""
    print(f"{num_steps} steps{more}\n{show.answer(setting, bound)}")
