"""The design that `advise` looks at: a data set, its batches, the length of the run."""

import argparse
import math
from dataclasses import dataclass
from typing import Any

from dpinfer.cli import options, show, values
from dpinfer.cli.options import Setting
from dpinfer.errors import InputError

EPOCHS = 10.0


@dataclass(frozen=True)
class Design:
    """A data set, and how it is to be used; the noise is left open."""

    records: int
    batch: int
    setting: Setting

    @property
    def title(self) -> str:
        """The design in one line, without its length."""
        setting = self.setting
        batches = (
            "all at every step" if setting.sampler == "full" else f"{setting.sampler} batches of {self.batch}"
        )
        return f"{self.records} records, {batches}, {setting.adjacency}, delta {show.up(setting.delta)}"

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the design although it can be computed."""
        if self.setting.delta < 1.0 / self.records:
            return []
        return [
            f"delta {show.up(self.setting.delta)} is not below 1 / records = {show.down(1.0 / self.records)}: "
            "publishing one record, chosen at random, would satisfy it."
        ]

    @property
    def step_counts(self) -> list[int]:
        """A quarter of the steps, the steps, four times the steps."""
        num_steps = self.setting.num_steps
        return sorted({max(1, num_steps // 4), num_steps, min(4 * num_steps, values.MOST_COUNT)})

    def describe(self) -> dict[str, Any]:
        """The design as plain data."""
        setting = self.setting
        return {
            "records": self.records,
            "batch": self.batch,
            "num_steps": setting.num_steps,
            "sampling_rate": setting.sampling_rate,
            "sampler": setting.sampler,
            "adjacency": setting.adjacency,
            "delta": setting.delta,
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of a design."""
    parser.add_argument("--records", type=values.count, required=True, metavar="N", help="size of the data set")
    parser.add_argument(
        "--batch", type=values.count, metavar="B", help="batch size, expected or fixed (default: root of N)"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--epochs", type=values.positive, metavar="K", help=f"passes over the data (default: {EPOCHS:g})"
    )
    length.add_argument("--steps", type=values.count, metavar="T", help="number of steps")
    parser.add_argument("--delta", type=values.delta, metavar="D", help="delta (default: 1 / (10 N))")
    options.add_neighbours(parser)


def read(arguments: argparse.Namespace) -> Design:
    """Check the arguments together and fill in what was not given."""
    records = arguments.records
    is_full = arguments.sampler == "full"
    batch = arguments.batch or (records if is_full else round(math.sqrt(records)))
    if batch > records:
        raise InputError(f"--batch is {batch}, but there are only {records} records.")
    if is_full and batch < records:
        raise InputError(f"--batch is {batch}, but the sampler full takes all {records} records.")
    setting = Setting(
        sampler=arguments.sampler,
        adjacency=arguments.adjacency,
        accountant="pld",
        delta=arguments.delta or 0.1 / records,
        noise_multiplier=1.0,
        num_steps=arguments.steps or _steps(arguments.epochs or EPOCHS, records / batch),
        sampling_rate=None if is_full else batch / records,
    )
    return Design(records, batch, setting)


def _steps(epochs: float, steps_per_epoch: float) -> int:
    count = epochs * steps_per_epoch
    if count > values.MOST_COUNT:
        raise InputError(f"--epochs is {epochs:g}, but that makes more than {values.MOST_COUNT} steps.")
    # A product such as 0.1 * 30 lies just above a whole number: that is no further step.
    return max(1, math.ceil(count * (1.0 - 1e-12)))
