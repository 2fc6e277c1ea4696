"""Account for the fits of an experiment's cells, from what each has recorded of its releases."""

import argparse
from typing import Any

from dpinfer.accounting.events import from_dict
from dpinfer.accounting.ledger import Ledger, ledger_from_dict
from dpinfer.atomic import read_json, write_json
from dpinfer.errors import InputError
from pipeline import accounts, shards
from pipeline.artifacts import Artifacts
from pipeline.provenance import Stamp
from pipeline.settings.method import Method
from pipeline.settings.yaml import parse
from pipeline.shards import Stage, Task

COLUMNS = ("eps_paper", "eps_sound", "delta", "adjacency", "accountant")
"""What metrics say of the privacy that they cost."""
RECORDED = ("settings", "releases", "generator")

add_arguments = shards.add_arguments


def main(arguments: argparse.Namespace) -> None:
    """Write the ledger of one repetition of each cell; one that exceeds its budget is an error."""
    stage = Stage(
        "account",
        lambda artifacts, task: [artifacts.account(task["experiment"], task["cell"])],
        lambda artifacts, task: [_recorded(artifacts, task), _earlier(artifacts, task)],
        _account,
    )
    write_json(arguments.output, shards.run(stage, arguments))


def _recorded(artifacts: Artifacts, task: Task) -> dict[str, Any]:
    """What the fit has recorded: its settings, and the events of its releases."""
    path = artifacts.stamp(task["experiment"], task["cell"])
    stamp = read_json(path)
    missing = [key for key in RECORDED if not isinstance(stamp, dict) or key not in stamp]
    if missing:
        raise InputError(f"{path} is not the stamp of a fit written by this package: it has no {missing[0]}")
    return {key: stamp[key] for key in RECORDED}


def _earlier(artifacts: Artifacts, task: Task) -> dict[str, Any] | None:
    """What the records have paid for the run that this one starts from."""
    if task["start"] is None:
        return None
    path = artifacts.account(*task["start"])
    content = read_json(path)
    if not isinstance(content, dict) or "ledger" not in content:
        raise InputError(f"{path} is not an account written by this package: it has no ledger")
    ledger: dict[str, Any] = content["ledger"]
    return ledger


def _account(artifacts: Artifacts, task: Task, identity: str) -> None:
    stamp = Stamp(task["code"])
    recorded, paid = _recorded(artifacts, task), _earlier(artifacts, task)
    where = artifacts.stamp(task["experiment"], task["cell"])
    settings: Method = parse(Method, recorded["settings"], where)
    earlier = None if paid is None else ledger_from_dict(paid)

    def spent(release: dict[str, Any]) -> Ledger:
        event, claimed = from_dict(release["event"]), from_dict(release["claimed"])
        return accounts.spent(settings, event, claimed, earlier, recorded["generator"])

    releases = recorded["releases"] if task["along"] else recorded["releases"][-1:]
    ledgers = {release["step"]: spent(release).to_dict() for release in releases}
    stamp.write(
        artifacts.account(task["experiment"], task["cell"]),
        identity=identity,
        ledger=ledgers[settings.num_steps],
        steps={step: {key: ledger[key] for key in COLUMNS} for step, ledger in ledgers.items()},
    )
