"""One call of `dpinfer fit`: from the user's files to a folder of results, with what is told on the way."""

import argparse
import inspect
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jax
from platformdirs import user_state_path

from dpinfer.accounting.budget import Budget
from dpinfer.errors import InputError
from dpinfer.random.chacha import system_key
from dpinfer.random.keys import stream
from dpinfer.table import posterior, write
from dpinfer.table.csv_table import Table, read_table
from dpinfer.table.posterior import Planned, Request
from dpinfer.table.program import Records, load, records_of
from dpinfer.types import Key


def run(arguments: argparse.Namespace) -> None:
    """Calibrate, pay, fit and write; nothing is written before the fit has ended."""
    request = _request(arguments)
    _refuse_second_release(arguments.output)
    program = load(arguments.model)
    table = read_table(arguments.data, program.levels)
    records = records_of(program, table)
    if arguments.synthetic:
        posterior.refuse_without_twin(records)
    budget = _budget(arguments, request, table)
    with _blaming(arguments.model), _told_plainly():
        planned = posterior.plan(program, records, request, budget)
    print(_told(planned, records, request, budget))
    if arguments.dry_run:
        return
    with _blaming(arguments.model), _told_plainly():
        fitted = posterior.fit(planned, records, request)
        found = posterior.check(program, records, fitted, stream(request.key, "check"))
        key_twin, size = stream(request.key, "twin"), planned.num_records
        drawn = posterior.twin(program, records, fitted, key_twin, size) if arguments.synthetic else None
    # Once more: another fit may have ended meanwhile.
    _refuse_second_release(arguments.output)
    arguments.output.mkdir(parents=True, exist_ok=True)
    write.posterior(arguments.output, fitted, planned.ledger)
    write.unprotected(arguments.output, fitted, found)
    if drawn is not None:
        write.twin(arguments.output, drawn)
    print(_ended(arguments.output, request))


def _refuse_second_release(folder: Path) -> None:
    """Stop where a ledger would be overwritten, which is the proof of what an earlier release cost."""
    if (folder / write.LEDGER).exists():
        raise InputError(f"{folder} holds a release, whose ledger would be lost: choose another --output")


def _budget(arguments: argparse.Namespace, request: Request, table: Table) -> Budget:
    """What the records of a table have cost so far, in whatever file they stand."""
    folder = arguments.ledgers or user_state_path("dpinfer") / "ledgers"
    return Budget(arguments.budget, request.delta, request.relation, path=folder / f"{table.digest}.json")


@contextmanager
def _told_plainly() -> Iterator[None]:
    """Print warnings as sentences, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for sentence in dict.fromkeys(str(each.message) for each in caught if each.category is UserWarning):
        print(f"warning: {sentence}", file=sys.stderr)


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
    if arguments.records is not None and arguments.records < 2:
        raise InputError(f"--records is {arguments.records}, but should be at least 2")
    return Request(
        epsilon=arguments.epsilon, delta=arguments.delta, adjacency=arguments.adjacency,
        num_steps=arguments.steps, expected_batch=arguments.batch, clip=arguments.clip,
        learning_rate=arguments.learning_rate, draws=arguments.draws, key=_key(arguments.seed),
        num_records=arguments.records,
    )  # fmt: skip


def _key(seed: int | None) -> Key:
    """A key that nobody knows, unless a seed is asked for."""
    return system_key() if seed is None else jax.random.key(seed)


def _told(planned: Planned, records: Records, request: Request, budget: Budget) -> str:
    size = len(records.values[0])
    inputs = [name for name in records.names if name not in records.outcomes]
    bound = planned.ledger.sound()
    public = f", stated as {request.num_records}" if request.num_records else ""
    named = f"outcomes {', '.join(records.outcomes) or 'none'}; given {', '.join(inputs) or 'none'}"
    batch = f"{planned.expected_batch:g} expected records"
    if planned.expected_batch < request.expected_batch:
        batch = f"{batch}: all of them, as there are fewer than --batch {request.expected_batch:g}"
    told = inspect.cleandoc(f"""
        {size} records{public}; {named}
        {request.num_steps} steps on Poisson batches of {batch}
        each gradient clipped to {request.clip:g}, noise multiplier {planned.svi.dp_scale:.4g}
        epsilon {bound.upper:.4g} at delta {request.delta:g} ({request.relation}), sound for this sampler
    """)
    earlier = len(budget.ledger.entries)
    if not earlier:
        return told
    total = budget.ledger.spend(planned.ledger.event, "this fit").sound().upper
    times = "once" if earlier == 1 else f"{earlier} times"
    return f"{told}\nthese records have been fitted {times} before: epsilon {total:.4g} in all with this fit"


def _ended(folder: Path, request: Request) -> str:
    eyes = f"{folder / write.UNPROTECTED}: for your own eyes; no epsilon covers it"
    if request.is_release:
        told = f"{folder}: posterior.npz, parameters.csv, summary.csv and {write.LEDGER} may be released"
        return f"{told}\n{eyes}"
    return f"{eyes}\na seed was given: whoever knows it can take the noise off again, so release nothing of this"
