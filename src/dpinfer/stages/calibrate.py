"""Find the noise for a cell's privacy target, and write it with the cell's complete settings."""

import argparse
from pathlib import Path

from dpinfer import experiment
from dpinfer.accounting import calibrate
from dpinfer.accounting.events import Event
from dpinfer.accounting.ledger import Ledger
from dpinfer.atomic import from_json, read_json
from dpinfer.provenance import Stamp
from dpinfer.settings.cell import Method
from dpinfer.settings.yaml import parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer calibrate`."""
    parser.add_argument("job", help="experiment, cell, seed and settings, as JSON")
    parser.add_argument("--facts", type=Path, required=True, help="the .json beside the data")
    parser.add_argument("--output", type=Path, required=True, help="the .json to write")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write the job and its noise multiplier; null where the cell runs without privacy."""
    stamp = Stamp(arguments.code)
    job = from_json(arguments.job)
    settings: Method = parse(Method, job["settings"], "job")
    shapes = read_json(arguments.facts)["shapes"]["train"]
    num_records = next(iter(shapes.values()))[0]
    stamp.write(arguments.output, **job, noise_multiplier=noise(settings, num_records))


def noise(settings: Method, num_records: int) -> float | None:
    """The noise multiplier as given, or the least that keeps what will be run within its target by any account."""

    def event(noise_multiplier: float) -> Event:
        return experiment.build(settings, num_records, noise_multiplier).event(settings.num_steps)

    if not settings.is_private or settings.noise_multiplier is not None:
        return settings.noise_multiplier
    assert settings.epsilon is not None
    assert settings.delta is not None
    # The sound accountant has a say, too: another may be a little below it, and the ledger would refuse the fit.
    return max(
        calibrate.noise_multiplier(settings.epsilon, settings.delta, event, settings.adjacency, name)
        for name in {settings.accountant, Ledger.accountant}
    )
