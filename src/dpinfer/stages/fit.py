"""Run a cell's algorithm for all its seeds, and write states and ledger."""

import argparse
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer import experiment
from dpinfer.accounting.ledger import Claim, Ledger
from dpinfer.atomic import replacing, to_json
from dpinfer.data.base import Arrays
from dpinfer.experiment import OpenCell
from dpinfer.inference.base import Algorithm
from dpinfer.inference.checkpoint import Checkpoint
from dpinfer.inference.run import keys_for, run_seeds
from dpinfer.provenance import Stamp

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
    job, settings, dataset, algorithm = cell
    key = experiment.key_of(job["seed"], job["experiment"], job["cell"])
    ledger = spent(cell)
    keys = keys_for(key, settings.seeds)
    checkpoint = Checkpoint(
        arguments.output.with_name("checkpoint.npz"), identity=f"{arguments.code} {to_json(job)}"
    )
    states = run_seeds(
        algorithm, keys, _records(dataset.train), settings.num_steps, checkpoint=checkpoint, progress=True
    ).state
    _refuse_non_finite(states, f"{job['experiment']}/{job['cell']}")
    _save_states(arguments.output, states)
    ledger.write(arguments.output.with_name("ledger.json"))
    checkpoint.remove()
    stamp.write(
        arguments.output.with_name("stamp.json"),
        **job,
        standin=dataset.facts.get("standin", False),
    )


def spent(cell: OpenCell) -> Ledger:
    """The ledger of one repetition; raises before anything is run if that would exceed a sound target."""
    settings = cell.settings
    event = cell.algorithm.event(settings.num_steps)
    ledger = Ledger(
        adjacency=settings.adjacency,
        delta=settings.delta or DELTA,
        budget=settings.epsilon if settings.is_private and settings.target == "sound" else None,
    )
    noise = cell.job["noise_multiplier"]
    claim = (
        # Without privacy every accountant says the same.
        Claim(event, ledger.accountant, ledger.delta, ledger.adjacency)
        if noise is None
        else experiment.claim(settings, cell.dataset.num_records, noise)
    )
    return ledger.spend(event, settings.method, claim)


def load_states(path: Path, algorithm: Algorithm, records: Arrays) -> Any:
    """Read the states of all seeds back into the shape that the algorithm gives them."""
    like = jax.eval_shape(algorithm.init, jax.random.key(0), _records(records))
    with np.load(path, allow_pickle=False) as stored:
        leaves = [jnp.asarray(stored[name]) for name in stored.files]
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def _save_states(path: Path, states: Any) -> None:
    named = {
        jax.tree_util.keystr(where) or "state": np.asarray(leaf)
        for where, leaf in jax.tree.leaves_with_path(states)
    }
    with replacing(path) as temporary:
        np.savez(temporary, allow_pickle=False, **named)


def _records(arrays: Arrays) -> dict[str, jax.Array]:
    return {key: jnp.asarray(value) for key, value in arrays.items()}


def _refuse_non_finite(states: Any, cell: str) -> None:
    for where, leaf in jax.tree.leaves_with_path(states):
        finite = np.isfinite(np.asarray(leaf)).reshape(len(leaf), -1).all(axis=1)
        if not finite.all():
            raise FloatingPointError(
                f"{cell}: the state {jax.tree_util.keystr(where)} of seed {int(np.argmin(finite))} is not finite"
            )
