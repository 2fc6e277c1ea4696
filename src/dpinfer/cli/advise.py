"""Weigh privacy against noise for a data set, and see what a guarantee leaves to an attacker."""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpinfer.accounting import accountant, attacker, calibrate
from dpinfer.accounting.attacker import FALSE_POSITIVE_RATES
from dpinfer.cli import options, show, values
from dpinfer.cli.noise import round_up
from dpinfer.cli.options import Setting
from dpinfer.errors import InputError

EPOCHS = 10.0
NOISES = (0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0)
TARGETS = (1.0, 4.0, 8.0)
# The profile is followed down to this delta: what is left adds nothing to a true positive rate that is shown.
LAST_DELTA = 1e-4
PRIORS = {"1:1": 1.0, "1:100": 0.01}
Rows = list[dict[str, Any]]


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


def add_design(parser: argparse.ArgumentParser) -> None:
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


def read_design(arguments: argparse.Namespace) -> Design:
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer advise`."""
    add_design(parser)
    parser.add_argument(
        "--noise-multiplier",
        type=values.noise,
        nargs="+",
        default=NOISES,
        metavar="S",
        help="rows of the first table (default: 0.5 to 8)",
    )
    parser.add_argument(
        "--epsilon",
        type=values.positive,
        nargs="+",
        default=TARGETS,
        metavar="E",
        help="rows of the second table: budgets and what they mean (default: 1 4 8)",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the first table, as .png, .pdf or .svg")
    options.add_json(parser)


def main(arguments: argparse.Namespace) -> None:
    """Print the epsilons of the design over noise and steps, and what budgets mean for an attacker."""
    chosen = read_design(arguments)
    if arguments.plot is not None:
        # Matplotlib takes longer to import than all else together.
        from dpinfer.cli import tradeoff

        tradeoff.check_writable(arguments.plot)
    table = epsilons(chosen, sorted(set(arguments.noise_multiplier)))
    meanings = [meaning(chosen.setting, target) for target in sorted(set(arguments.epsilon))]
    if arguments.plot is not None:
        tradeoff.save(arguments.plot, table, chosen.title)
    if arguments.json:
        content = {"design": chosen.describe(), "warnings": chosen.warnings}
        print(show.json(content | {"epsilons": table, "attacker": meanings}))
    else:
        print(_text(chosen, table, meanings))


def epsilons(chosen: Design, noises: list[float]) -> Rows:
    """Return the epsilon for each noise multiplier and number of steps."""
    return [
        {"noise_multiplier": noise, "num_steps": num_steps, "epsilon": bound.upper}
        for noise in noises
        for num_steps in chosen.step_counts
        for bound in [chosen.setting.bound(with_lower=False, noise_multiplier=noise, num_steps=num_steps)]
    ]


def meaning(setting: Setting, target: float) -> dict[str, Any]:
    """Return the noise for a budget, and bounds on what an attacker reaches at that noise."""
    noise = calibrate.noise_multiplier(
        target,
        setting.delta,
        lambda noise: setting.event(noise_multiplier=noise),
        setting.adjacency,
    )
    noise = float(round_up(setting, noise, target))
    event = setting.event(noise_multiplier=noise)
    pld: Any = accountant("pld")
    most = pld.epsilon(event, LAST_DELTA, setting.adjacency).upper
    points = attacker.profile(lambda epsilon: pld.delta(event, epsilon, setting.adjacency).upper, most)
    rates = {rate: attacker.true_positive_rate(points, rate) for rate in FALSE_POSITIVE_RATES}
    least = min(rates)
    return {
        "target_epsilon": target,
        "epsilon": setting.bound(with_lower=False, noise_multiplier=noise).upper,
        "noise_multiplier": noise,
        "true_positive_rate": {f"{rate:g}": found for rate, found in rates.items()},
        "posterior_odds": {name: prior * rates[least] / least for name, prior in PRIORS.items()},
    }


def _text(chosen: Design, table: Rows, meanings: Rows) -> str:
    setting = chosen.setting
    epochs = setting.num_steps * chosen.batch / chosen.records
    steps = f"{setting.num_steps} steps ({epochs:.3g} epochs)"
    least = min(FALSE_POSITIVE_RATES)
    return "\n".join(
        [
            f"{chosen.title}, {steps}",
            *(f"Warning: {warning}" for warning in chosen.warnings),
            "\nepsilon by noise multiplier and number of steps",
            _grid(chosen.step_counts, table),
            f"\nwhat a budget means at {setting.num_steps} steps: the least noise that keeps it; the largest true",
            "positive rate of any attack with a given false positive rate (FPR); what prior odds can become",
            f"when an attack with FPR {_percent(least)} accuses",
            _meanings(meanings),
        ]
    )


def _grid(step_counts: list[int], table: Rows) -> str:
    cells = [show.up(row["epsilon"], 4) for row in table]
    width = len(step_counts)
    rows = [
        (f"{row['noise_multiplier']:g}", *cells[start : start + width])
        for start, row in zip(range(0, len(table), width), table[::width], strict=True)
    ]
    return show.table(("noise", *(f"{count} steps" for count in step_counts)), rows)


def _meanings(rows: Rows) -> str:
    rates = (f"FPR {_percent(rate)}" for rate in FALSE_POSITIVE_RATES)
    header = ("epsilon", "noise", *rates, *(f"odds {prior}" for prior in PRIORS))
    return show.table(
        header,
        [
            (
                f"{row['target_epsilon']:g}",
                show.up(row["noise_multiplier"]),
                *(_percent(rate) for rate in row["true_positive_rate"].values()),
                *(_odds(odds) for odds in row["posterior_odds"].values()),
            )
            for row in rows
        ],
    )


def _percent(share: float) -> str:
    return f"{show.up(100.0 * share, 3)} %"


def _odds(odds: float) -> str:
    return f"{show.up(odds, 3)}:1" if odds >= 1.0 else f"1:{show.down(1.0 / odds, 3)}"
