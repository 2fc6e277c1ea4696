"""Find the noise for a cell's privacy target, and write it with the cell's complete settings."""

import argparse
import bisect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from dpinfer import experiment
from dpinfer.accounting import calibrate
from dpinfer.accounting.ledger import Claim, Ledger
from dpinfer.atomic import from_json, read_json
from dpinfer.provenance import Stamp
from dpinfer.settings.method import Method
from dpinfer.settings.pvi import PviRecords
from dpinfer.settings.yaml import parse
from dpinfer.stages.fit import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer calibrate`."""
    parser.add_argument("job", help="experiment, cell, seed and settings, as JSON")
    parser.add_argument("--facts", type=Path, required=True, help="the .json beside the data")
    parser.add_argument("--correction", type=Path, help="the correction that the cell's tests need")
    parser.add_argument(
        "--start", nargs=3, type=Path, metavar=("CALIBRATION", "DATA", "FIT"), help="of the run it starts from"
    )
    parser.add_argument("--output", type=Path, required=True, help="the .json to write")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write the job and its noise multiplier; null where the cell runs without privacy.

    Where clients have budgets of their own, the settings are completed by the rounds that these allow.
    """
    stamp = Stamp(arguments.code)
    job = from_json(arguments.job)
    settings: Method = parse(Method, job["settings"], "job")
    shapes = read_json(arguments.facts)["shapes"]["train"]
    num_records = next(iter(shapes.values()))[0]
    found = noise(settings, num_records)
    if isinstance(settings, PviRecords) and found is not None:
        job["settings"]["last_rounds"] = last_rounds(settings, num_records, found)
    start, earlier = _start(*arguments.start) if arguments.start else (None, None)
    stamp.write(
        arguments.output,
        **job,
        noise_multiplier=found,
        correction=read_json(arguments.correction)["mixture"] if arguments.correction else None,
        start=start,
        earlier=earlier,
    )


def _start(calibration: Path, data: Path, fit: Path) -> tuple[list[Any], dict[str, Any]]:
    """The leaves of the point that the first seed of a fit leads to, and its ledger."""
    cell = experiment.open_cell(calibration, data)
    state = jax.tree.map(lambda leaf: leaf[0], load(fit, cell.algorithm, cell.dataset.train).state)
    leaves = [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(cell.algorithm.centre(state))]
    return leaves, read_json(fit.with_name("ledger.json"))


def noise(settings: Method, num_records: int) -> float | None:
    """The noise multiplier as given, or the least that keeps what will be run within its target."""
    if not settings.is_private or settings.given_noise is not None:
        return settings.given_noise

    def paper(noise_multiplier: float) -> Claim:
        return experiment.claim(settings, num_records, noise_multiplier)

    def sound(noise_multiplier: float) -> Claim:
        return _sound(settings, num_records, noise_multiplier)

    assert settings.epsilon is not None
    by_paper = _least(settings.epsilon, paper)
    if settings.target == "paper" or paper(1.0) == sound(1.0):
        return by_paper
    # The sound accountant has a say, too: another may be a little below it, and the ledger would refuse the fit.
    return max(by_paper, _least(settings.epsilon, sound))


def last_rounds(settings: PviRecords, num_records: int, noise_multiplier: float) -> list[int]:
    """The last round of each client within its budget; all rounds where it has none, empty if nobody has."""
    budgets = [own.budget for own in settings.own]
    if settings.last_rounds or all(budget is None for budget in budgets):
        return list(settings.last_rounds)

    def epsilons(rounds: int) -> list[float]:
        account = experiment.claim if settings.target == "paper" else _sound
        found = account(settings, num_records, noise_multiplier, rounds).epsilons()
        return found if len(found) > 1 else found * len(budgets)

    def within(client: int, budget: float | None) -> int:
        if budget is None:
            return settings.num_steps
        # Epsilon never falls from one round to the next.
        return bisect.bisect_right(
            range(1, settings.num_steps + 1), budget, key=lambda rounds: epsilons(rounds)[client]
        )

    return [within(client, budget) for client, budget in enumerate(budgets)]


def _sound(settings: Method, num_records: int, noise_multiplier: float, num_steps: int | None = None) -> Claim:
    """What a cell, or its first steps, really costs with that noise."""
    event = experiment.build(settings, num_records, noise_multiplier).event(num_steps or settings.num_steps)
    assert settings.delta is not None
    return Claim(event, Ledger.accountant, settings.delta, settings.adjacency)


def _least(epsilon: float, account: Callable[[float], Claim]) -> float:
    """The least noise multiplier with which an account is within the target."""
    like = account(1.0)
    return calibrate.noise_multiplier(
        epsilon / like.factor,
        like.delta,
        lambda noise_multiplier: account(noise_multiplier).event,
        like.adjacency,
        like.accountant,
        **like.options,
    )
