"""Fit your own NumPyro model to your own table, privately.

The model's parameters are columns of the table, by name; `x`, if no column is called so, is all others as a
matrix. An outcome is None by default. The file may also define `guide`, with the same parameters, and LEVELS, the
values of columns of text. What is written may be released, but for the folder `unprotected`.
"""

import argparse
import inspect
import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.events import ADJACENCIES
from dpinfer.errors import InputError
from dpinfer.own import posterior, write
from dpinfer.own.posterior import Planned, Request
from dpinfer.own.program import Records, load, records_of
from dpinfer.own.table import read_table
from dpinfer.types import Key


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer own`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("model", type=Path, help="Python file with a NumPyro model")
    parser.add_argument("data", type=Path, help="table of records, as CSV with a header")
    parser.add_argument("--epsilon", type=float, required=True, help="largest epsilon")
    parser.add_argument("--delta", type=float, required=True, help="its delta; well below 1 / records")
    parser.add_argument("--output", type=Path, default=Path("posterior"), help="folder (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=2000, help="of the optimiser (default: %(default)s)")
    parser.add_argument("--batch", type=float, default=100, help="expected records in one (default: %(default)s)")
    parser.add_argument("--clip", type=float, default=1.0, help="of a record's gradient (default: %(default)s)")
    parser.add_argument("--learning-rate", type=float, default=0.01, help="of Adam (default: %(default)s)")
    parser.add_argument("--adjacency", choices=ADJACENCIES, default="add-remove", help="(default: %(default)s)")
    parser.add_argument("--draws", type=int, default=1000, help="from the posterior (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="for trials alone; by default the system's entropy is used")
    parser.add_argument("--synthetic", action="store_true", help="also draw a synthetic twin of the table")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done and its cost, and stop")


def main(arguments: argparse.Namespace) -> None:
    """Calibrate, fit and write; nothing is written before the fit has ended."""
    request = _request(arguments)
    program = load(arguments.model)
    records = records_of(program, read_table(arguments.data, program.levels))
    if arguments.synthetic:
        posterior.refuse_without_twin(records)
    planned = posterior.plan(program, records, request)
    print(_told(planned, records, request))
    if arguments.dry_run:
        return
    fitted = posterior.fit(planned, records, request)
    key_check, key_twin = jax.random.split(jax.random.fold_in(request.key, 1))
    found = posterior.check(program, records, fitted, key_check)
    drawn = posterior.twin(program, records, fitted, key_twin) if arguments.synthetic else None
    arguments.output.mkdir(parents=True, exist_ok=True)
    write.posterior(arguments.output, fitted, planned.ledger)
    write.unprotected(arguments.output, fitted, found)
    if drawn is not None:
        write.twin(arguments.output, drawn)
    print(_ended(arguments.output, fitted.diagnostics))
    if arguments.seed is not None:
        print("a seed was given: whoever knows it can take the noise off again, so release nothing of this")


def _request(arguments: argparse.Namespace) -> Request:
    for name in ("steps", "batch", "clip", "learning_rate", "draws"):
        if not getattr(arguments, name) > 0:
            option = name.replace("_", "-")
            raise InputError(f"--{option} is {getattr(arguments, name)}, but should be positive")
    return Request(
        epsilon=arguments.epsilon, delta=arguments.delta, adjacency=arguments.adjacency,
        num_steps=arguments.steps, expected_batch=arguments.batch, clip=arguments.clip,
        learning_rate=arguments.learning_rate, draws=arguments.draws, key=_key(arguments.seed),
    )  # fmt: skip


def _key(seed: int | None) -> Key:
    """A key that nobody knows, unless a seed is asked for."""
    if seed is not None:
        return jax.random.key(seed)
    return jax.random.wrap_key_data(jnp.asarray(np.frombuffer(os.urandom(8), np.uint32)))


def _told(planned: Planned, records: Records, request: Request) -> str:
    size = len(records.values[0])
    inputs = [name for name in records.names if name not in records.outcomes]
    bound = planned.ledger.sound()
    return inspect.cleandoc(f"""
        {size} records; outcomes {", ".join(records.outcomes) or "none"}; given {", ".join(inputs) or "none"}
        {request.num_steps} steps on Poisson batches of {min(request.expected_batch, size):g} expected records
        each gradient clipped to {request.clip:g}, noise multiplier {planned.svi.dp_scale:.4g}
        epsilon {bound.upper:.4g} at delta {request.delta:g} ({request.adjacency}), sound for this sampler
    """)


def _ended(folder: Path, diagnostics: dict[str, float]) -> str:
    told = f"{folder}: posterior.npz, parameters.csv, summary.csv and ledger.json may be released"
    lines = [told, f"{folder / write.UNPROTECTED}: for your own eyes; no epsilon covers it"]
    if diagnostics["clipped_share"] > 0.9:
        share = f"{diagnostics['clipped_share']:.0%}"
        lines.append(f"{share} of the gradients looked at are clipped: a larger --clip may serve better")
    if diagnostics["signal_to_noise_at_most"] < 1:
        lines.append("noise drowns the gradient: more records, larger batches or a larger epsilon would help")
    return "\n".join(lines)
