"""Find the least noise multiplier that keeps a run within its budget."""

import argparse

from dpinfer.accounting import calibrate
from dpinfer.cli import options, show
from dpinfer.cli.options import Setting


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer noise`."""
    options.add_target(parser)
    options.add_setting(parser, sought="noise_multiplier")
    options.add_accountant(parser)
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> None:
    """Print the noise multiplier and the epsilon it gives.

    Guarantee: the number printed, as it stands, was evaluated and found within the budget.
    """
    setting = options.read(arguments, noise_multiplier=1.0)
    noise = calibrate.noise_multiplier(
        arguments.epsilon,
        setting.delta,
        lambda noise: setting.event(noise_multiplier=noise),
        setting.adjacency,
        setting.accountant,
        tolerance=options.TOLERANCE,
        **setting.options(),
    )
    text = "" if arguments.json else round_up(setting, noise, arguments.epsilon)
    bound = setting.bound(noise_multiplier=float(text or noise))
    if arguments.json:
        print(show.json({"noise_multiplier": noise, **setting.describe(bound)}))
    else:
        print(f"noise multiplier {text}\n{show.answer(setting, bound)}")


def round_up(setting: Setting, noise: float, target: float) -> str:
    """Write a noise multiplier with few digits such that it is within the target as written."""
    text = show.up(noise)
    # More noise never costs more, but the grid of an accountant may: go on until it agrees.
    while setting.bound(with_lower=False, noise_multiplier=float(text)).upper > target:
        text = show.next_up(text)
    return text
