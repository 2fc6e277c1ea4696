"""Find the largest sampling rate, or the largest batch, that a budget allows."""

import argparse
import math

from dpinfer.accounting import calibrate
from dpinfer.cli import options, show, values
from dpinfer.cli.options import Setting
from dpinfer.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer rate`."""
    options.add_target(parser)
    options.add_setting(parser, sought="sampling_rate", samplers=("poisson", "subset"))
    parser.add_argument("--records", type=values.count, metavar="N", help="size of the data set, to name a batch")
    options.add_accountant(parser)
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> None:
    """Print the sampling rate and the epsilon it gives; with `--records` those of whole batches.

    Guarantee: the number printed, as it stands, was evaluated and found within the budget.
    """
    setting = options.read(arguments, sampling_rate=0.5)
    rate = calibrate.sampling_rate(
        arguments.epsilon,
        setting.delta,
        lambda rate: setting.event(sampling_rate=rate),
        setting.adjacency,
        setting.accountant,
        tolerance=options.TOLERANCE,
        **setting.options(),
    )
    size = {}
    text = ""
    if arguments.records is not None:
        batch = largest_batch(setting, rate, arguments.records, arguments.epsilon)
        size, rate = {"batch": batch}, batch / arguments.records
        text = f"{rate:.{show.DIGITS}g}: a batch of {batch} of {arguments.records} records"
    elif not arguments.json:
        text = round_down(setting, rate, arguments.epsilon)
        rate = float(text)
    bound = setting.bound(sampling_rate=rate)
    if arguments.json:
        print(show.json({"sampling_rate": rate, **size, **setting.describe(bound)}))
    else:
        print(f"sampling rate {text}\n{show.answer(setting, bound)}")


def largest_batch(setting: Setting, rate: float, records: int, target: float) -> int:
    """Return the largest whole batch at or below a sampling rate that is within the target."""
    for batch in range(math.floor(rate * records), 0, -1):
        if setting.bound(with_lower=False, sampling_rate=batch / records).upper <= target:
            return batch
    raise InputError(
        f"The budget allows a sampling rate of {show.down(rate)}: less than one of {records} records."
    )


def round_down(setting: Setting, rate: float, target: float) -> str:
    """Write a sampling rate with few digits such that it is within the target as written."""
    text = show.down(rate)
    # A smaller rate never costs more, but the grid of an accountant may: go on until it agrees.
    while setting.bound(with_lower=False, sampling_rate=float(text)).upper > target:
        text = show.next_down(text)
    return text
