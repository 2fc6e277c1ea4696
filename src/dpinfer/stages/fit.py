"""Run a cell's algorithm for all its seeds, and write states and ledger."""

import argparse
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer import experiment
from dpinfer.accounting.ledger import BudgetExceededError, Claim, Ledger
from dpinfer.accounting.so_far import so_far
from dpinfer.atomic import UNREADABLE, replacing, to_json
from dpinfer.data.base import Arrays
from dpinfer.errors import InputError
from dpinfer.experiment import OpenCell
from dpinfer.inference.base import Algorithm
from dpinfer.inference.checkpoint import Checkpoint
from dpinfer.inference.run import Run, keys_for, run_seeds
from dpinfer.provenance import Stamp
from dpinfer.settings.pvi import PviRecords
from dpinfer.threefry import generator

PARTS = ("state", "trace")
"""What the names in a fit's file begin with: the last states, and what was kept of recorded steps."""
DELTA = 1e-6
"""Stands in the ledger of a run without privacy, whose epsilon is infinite at every delta."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer fit`."""
    parser.add_argument("--calibration", type=Path, required=True, help="the cell's calibration")
    parser.add_argument("--data", type=Path, required=True, help="the .npz of the data set")
    parser.add_argument(
        "--output", type=Path, required=True, help="fit.npz; ledger.json and stamp.json go beside it"
    )
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Fit, check that all is finite and within budget, then write."""
    stamp = Stamp(arguments.code)
    cell = experiment.open_cell(arguments.calibration, arguments.data)
    job, settings, dataset, algorithm = cell[:4]
    key = experiment.key_of(job["seed"], job["experiment"], job["cell"])
    paid, ledger = before(cell), replace(spent(cell), generator=generator(key))
    keys = keys_for(key, settings.seeds)
    checkpoint = Checkpoint(
        arguments.output.with_name("checkpoint.npz"), identity=f"{arguments.code} {to_json(job)}"
    )
    done = run_seeds(
        algorithm,
        keys,
        _records(dataset.train),
        settings.num_steps,
        record=algorithm.keep if settings.record_every else None,
        record_every=settings.record_every,
        checkpoint=checkpoint,
        progress=True,
        note=lambda done: so_far(paid, algorithm.event(done)),
    )
    _refuse_non_finite(done, f"{job['experiment']}/{job['cell']}")
    _save(arguments.output, done)
    ledger.write(arguments.output.with_name("ledger.json"))
    checkpoint.remove()
    stamp.write(
        arguments.output.with_name("stamp.json"),
        **job,
        standin=dataset.facts.get("standin", False),
    )


def spent(cell: OpenCell, num_steps: int | None = None) -> Ledger:
    """The ledger of one repetition, or of its first steps.

    Raises before anything is run if that would exceed a sound target.
    """
    num_steps = num_steps or cell.settings.num_steps
    settings = cell.settings
    event = cell.algorithm.event(num_steps)
    ledger = before(cell)
    noise = cell.job["noise_multiplier"]
    claim = (
        # Without privacy every accountant says the same.
        Claim(event, ledger.accountant, ledger.delta, ledger.adjacency)
        if noise is None
        else experiment.claim(settings, cell.dataset.num_records, noise, num_steps)
    )
    ledger = ledger.spend(event, settings.method, claim)
    if isinstance(settings, PviRecords) and settings.target == "sound":
        _refuse_overspent(ledger, [own.budget for own in settings.own])
    return ledger


def before(cell: OpenCell) -> Ledger:
    """The ledger of a repetition before its first step: its budget, and what the run that it starts from spent."""
    settings = cell.settings
    ledger = Ledger(
        adjacency=settings.adjacency,
        delta=settings.delta or DELTA,
        budget=settings.epsilon if settings.is_private and settings.target == "sound" else None,
    )
    return ledger if cell.given.earlier is None else ledger.compose(cell.given.earlier)


def _refuse_overspent(ledger: Ledger, budgets: list[float | None]) -> None:
    """Hold every client's sound epsilon against its own budget, where it has one."""
    if all(budget is None for budget in budgets):
        return
    spent = [own["eps_sound"] for own in ledger.clients()] or [ledger.sound().upper] * len(budgets)
    for client, (epsilon, budget) in enumerate(zip(spent, budgets, strict=True)):
        if budget is not None and (epsilon is None or epsilon > budget):
            raise BudgetExceededError(f"client {client} would spend epsilon {epsilon}, but its budget is {budget}")


def load(path: Path, algorithm: Algorithm, records: Arrays) -> Run:
    """Read a fit of all seeds back into the shape that the algorithm gives it."""
    key = jax.random.key(0)
    state = jax.eval_shape(algorithm.init, key, _records(records))
    kept = jax.eval_shape(lambda own, at: algorithm.keep(*algorithm.step(own, at, _records(records))), key, state)
    try:
        with path.open("rb") as source, np.load(source, allow_pickle=False) as stored:
            leaves = {
                part: [jnp.asarray(stored[name]) for name in stored.files if name.startswith(part)]
                for part in PARTS
            }
        trees = {"state": state, "trace": kept if leaves["trace"] else None}
        return Run(**{part: jax.tree.unflatten(jax.tree.structure(trees[part]), leaves[part]) for part in PARTS})
    except UNREADABLE as error:
        raise InputError(f"{path} is not a fit of this cell: {error}") from error


def _save(path: Path, done: Run) -> None:
    """Write the leaves of states and traces under the names that they have in their trees."""
    named = {
        part + jax.tree_util.keystr(where): np.asarray(leaf)
        for part, tree in zip(PARTS, done, strict=True)
        for where, leaf in jax.tree.leaves_with_path(tree)
    }
    with replacing(path) as temporary:
        np.savez(temporary, allow_pickle=False, **named)


def _records(arrays: Arrays) -> dict[str, jax.Array]:
    return {key: jnp.asarray(value) for key, value in arrays.items()}


def _refuse_non_finite(done: Run, cell: str) -> None:
    for part, tree in zip(PARTS, done, strict=True):
        for where, leaf in jax.tree.leaves_with_path(tree):
            finite = np.isfinite(np.asarray(leaf)).reshape(len(leaf), -1).all(axis=1)
            if not finite.all():
                name, seed = jax.tree_util.keystr(where), int(np.argmin(finite))
                raise FloatingPointError(f"{cell}: the {part} {name} of seed {seed} is not finite")
