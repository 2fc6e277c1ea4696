"""One call of `dpinfer own`: from the user's files to a folder of results, with what is told on the way."""

import argparse
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jax

from dpinfer.chacha import system_key
from dpinfer.errors import InputError
from dpinfer.own import posterior, write
from dpinfer.own.posterior import Planned, Request
from dpinfer.own.program import Records, load, records_of
from dpinfer.own.table import read_table
from dpinfer.types import Key

MUCH = 0.1
"""Share of clipped gradients that is worth a word: at 0.15, weights of the example on Adult are off by a sixth."""


def run(arguments: argparse.Namespace) -> None:
    """Calibrate, fit and write; nothing is written before the fit has ended."""
    request = _request(arguments)
    program = load(arguments.model)
    records = records_of(program, read_table(arguments.data, program.levels))
    if arguments.synthetic:
        posterior.refuse_without_twin(records)
    with _blaming(arguments.model):
        planned = posterior.plan(program, records, request)
    print(_told(planned, records, request))
    if arguments.dry_run:
        return
    key_check, key_twin = jax.random.split(jax.random.fold_in(request.key, 1))
    with _blaming(arguments.model):
        fitted = posterior.fit(planned, records, request)
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


@contextmanager
def _blaming(model: Path) -> Iterator[None]:
    """Tell in one sentence that a model does not go with its table: that may end in any error, in NumPyro, say."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        problem = str(error).partition("\n")[0]
        raise InputError(f"{model}: the model cannot be fitted: {type(error).__name__}: {problem}") from error


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
    return system_key() if seed is None else jax.random.key(seed)


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
    if diagnostics["clipped_share"] > MUCH:
        share = f"{diagnostics['clipped_share']:.0%} of the gradients looked at are clipped"
        lines.append(f"{share}, which shifts what is learned: a larger --clip may serve better")
    if diagnostics["signal_to_noise_at_most"] < 1:
        lines.append("noise drowns the gradient: more records, larger batches or a larger epsilon would help")
    return "\n".join(lines)
