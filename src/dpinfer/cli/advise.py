"""Weigh privacy against noise for a data set, and see what a guarantee leaves to an attacker."""

import argparse
from pathlib import Path
from typing import Any

from dpinfer.accounting import accountant, attacker, calibrate
from dpinfer.accounting.attacker import FALSE_POSITIVE_RATES
from dpinfer.cli import design, options, show, values
from dpinfer.cli.design import Design
from dpinfer.cli.noise import round_up
from dpinfer.cli.options import Setting

NOISES = (0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0)
TARGETS = (1.0, 4.0, 8.0)
# The profile is followed down to this delta: what is left adds nothing to a true positive rate that is shown.
LAST_DELTA = 1e-4
PRIORS = {"1:1": 1.0, "1:100": 0.01}
Rows = list[dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer advise`."""
    design.add_arguments(parser)
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
    chosen = design.read(arguments)
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
