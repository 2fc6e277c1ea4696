"""Find the noise for the privacy targets of an experiment's cells, where there is something to find."""

import argparse
import bisect
from collections.abc import Callable
from typing import Any

from dpinfer.accounting import calibrate
from dpinfer.accounting.ledger import StatedAccount
from dpinfer.atomic import read_json, write_json
from dpinfer.errors import InputError
from pipeline import accounts, experiment, shards
from pipeline.artifacts import Artifacts
from pipeline.derived import given_noise, is_private
from pipeline.provenance import Stamp
from pipeline.settings.method import Method
from pipeline.settings.pvi import PviRecords
from pipeline.settings.yaml import parse
from pipeline.shards import Stage, Task

add_arguments = shards.add_arguments


def main(arguments: argparse.Namespace) -> None:
    """Write the noise multiplier of each cell.

    Where clients have budgets of their own, the rounds that these allow are written as well.
    """
    stage = Stage("calibrate", lambda kept, task: [kept.calibration(*_names(task))], _num_records, _calibrate)
    write_json(arguments.output, shards.run(stage, arguments))


def _names(task: Task) -> tuple[str, str]:
    return task["experiment"], task["cell"]


def _num_records(artifacts: Artifacts, task: Task) -> int:
    """How many records there are to learn from: all that the noise depends on of the data."""
    facts = read_json(artifacts.facts(task["data"]))
    try:
        return int(next(iter(facts["shapes"]["train"].values()))[0])
    except (KeyError, TypeError, StopIteration) as error:
        raise InputError(f"{artifacts.facts(task['data'])} does not tell the shapes of the data") from error


def _calibrate(artifacts: Artifacts, task: Task, identity: str) -> None:
    stamp = Stamp(task["code"])
    settings: Method = parse(Method, task["settings"], artifacts.tasks(task["experiment"]))
    num_records = _num_records(artifacts, task)
    found = noise(settings, num_records)
    completed = dict[str, Any]()
    if isinstance(settings, PviRecords) and found is not None:
        completed["last_rounds"] = last_rounds(settings, num_records, found)
    stamp.write(
        artifacts.calibration(*_names(task)),
        identity=identity,
        noise_multiplier=found,
        completed=completed,
    )


def noise(settings: Method, num_records: int) -> float | None:
    """The noise multiplier as given, or the least that keeps what will be run within its target."""
    given = given_noise(settings)
    if not is_private(settings) or given is not None:
        return given

    def paper(noise_multiplier: float) -> StatedAccount:
        return _paper(settings, num_records, noise_multiplier)

    def sound(noise_multiplier: float) -> StatedAccount:
        return _sound(settings, num_records, noise_multiplier)

    assert settings.epsilon is not None
    by_paper = _least(settings.epsilon, paper)
    if settings.target == "paper" or paper(1.0) == sound(1.0):
        return by_paper
    # The sound accountant has a say, too: another may be a little below it, and the account would be refused.
    return max(by_paper, _least(settings.epsilon, sound))


def last_rounds(settings: PviRecords, num_records: int, noise_multiplier: float) -> list[int]:
    """The last round of each client within its budget; all rounds where it has none, empty if nobody has."""
    budgets = [own.budget for own in settings.own]
    if settings.last_rounds or all(budget is None for budget in budgets):
        return list(settings.last_rounds)

    def epsilons(rounds: int) -> list[float]:
        account = _paper if settings.target == "paper" else _sound
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


def _paper(
    settings: Method, num_records: int, noise_multiplier: float, num_steps: int | None = None
) -> StatedAccount:
    """What the paper says that a cell, or its first steps, costs with that noise."""
    event = experiment.claimed(settings, num_records, noise_multiplier)(num_steps or settings.num_steps)
    return accounts.claim(settings, event)


def _sound(
    settings: Method, num_records: int, noise_multiplier: float, num_steps: int | None = None
) -> StatedAccount:
    """What a cell, or its first steps, really costs with that noise."""
    event = experiment.build(settings, num_records, noise_multiplier).event(num_steps or settings.num_steps)
    return accounts.sound(settings, event)


def _least(epsilon: float, account: Callable[[float], StatedAccount]) -> float:
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
