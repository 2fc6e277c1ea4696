"""One call of `dpinfer fit`: from the user's files to a folder of results, with what is told on the way.

What a fit leaves in its folder: what is private beside what is for the owner's eyes alone.
"""

import argparse
import inspect
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
from platformdirs import user_state_path

from dpinfer.accounting.budget import Budget
from dpinfer.accounting.ledger import Ledger
from dpinfer.atomic import replacing, write_json
from dpinfer.errors import InputError
from dpinfer.random.chacha import system_key
from dpinfer.random.keys import stream
from dpinfer.table import posterior
from dpinfer.table.csv_table import Table, read_table
from dpinfer.table.posterior import FittedTable, PlannedFit, Request
from dpinfer.table.program import Records, load, records_of
from dpinfer.types import Key

LEDGER = "ledger.json"
UNPROTECTED = "unprotected"
"""The folder of what no epsilon covers."""


def write_posterior(folder: Path, fitted: FittedTable, ledger: Ledger) -> None:
    """Write draws, parameters, a summary and the ledger: all of it may be released."""
    with replacing(folder / "posterior.npz") as temporary:
        # A leading axis for the one chain, as ArviZ expects it: az.from_dict(dict(np.load(...))).
        np.savez(temporary, allow_pickle=False, **{name: value[None] for name, value in fitted.draws.items()})
    _table(folder / "parameters.csv", list(_entries(fitted.result.params)))
    _table(folder / "summary.csv", list(_summary(fitted.draws)))
    ledger.write(folder / LEDGER)


def write_twin(folder: Path, columns: dict[str, np.ndarray]) -> None:
    """Write a synthetic table, which may be released as well."""
    rows = zip(*(value.tolist() for value in columns.values()), strict=True)
    _table(folder / "synthetic.csv", [dict(zip(columns, row, strict=True)) for row in rows])


def write_unprotected(folder: Path, fitted: FittedTable, check: list[dict[str, Any]]) -> None:
    """Write what looks at the records without noise."""
    own = folder / UNPROTECTED
    write_json(own / "diagnostics.json", fitted.diagnostics)
    losses = np.asarray(fitted.result.losses)
    _table(own / "loss.csv", [{"step": step, "loss": loss} for step, loss in enumerate(losses.tolist(), start=1)])
    _table(own / "predictive_check.csv", check)


def _entries(parameters: dict[str, jax.Array]) -> Iterator[dict[str, Any]]:
    for name, value in parameters.items():
        for index, entry in np.ndenumerate(np.asarray(value)):
            yield {"parameter": name, "index": " ".join(map(str, index)), "value": float(entry)}


def _summary(draws: dict[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    for name, value in draws.items():
        for index in np.ndindex(value.shape[1:]):
            own = value[(slice(None), *index)].astype(np.float64)
            low, high = np.quantile(own, (0.05, 0.95))
            yield {
                "site": name, "index": " ".join(map(str, index)), "mean": own.mean(), "sd": own.std(),
                "low": low, "high": high,
            }  # fmt: skip


def _table(path: Path, rows: list[dict[str, Any]]) -> None:
    with replacing(path) as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False)


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
    write_posterior(arguments.output, fitted, planned.ledger)
    write_unprotected(arguments.output, fitted, found)
    if drawn is not None:
        write_twin(arguments.output, drawn)
    print(_ended(arguments.output, request))


def _refuse_second_release(folder: Path) -> None:
    """Stop where a ledger would be overwritten, which is the proof of what an earlier release cost."""
    if (folder / LEDGER).exists():
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


def _told(planned: PlannedFit, records: Records, request: Request, budget: Budget) -> str:
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
    eyes = f"{folder / UNPROTECTED}: for your own eyes; no epsilon covers it"
    if request.is_release:
        told = f"{folder}: posterior.npz, parameters.csv, summary.csv and {LEDGER} may be released"
        return f"{told}\n{eyes}"
    return f"{eyes}\na seed was given: whoever knows it can take the noise off again, so release nothing of this"
