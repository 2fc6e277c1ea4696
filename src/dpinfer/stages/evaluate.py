"""Compute the metrics of an experiment's cells for every seed, on the test data.

All cells in one process: their programs are much the same, and to start one takes longer than most metrics.
"""

import argparse
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from tqdm import tqdm

from dpinfer import experiment, models
from dpinfer.atomic import read_json, replacing
from dpinfer.data.base import Arrays
from dpinfer.experiment import OpenCell
from dpinfer.inference.compiled import hoisted
from dpinfer.inference.run import Run, keys_for
from dpinfer.provenance import Stamp
from dpinfer.stages.fit import load, spent
from dpinfer.types import Key, Records

LEDGER_COLUMNS = ("eps_paper", "eps_sound", "delta", "adjacency", "accountant")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer evaluate`."""
    parser.add_argument(
        "--cell",
        nargs=3,
        type=Path,
        action="append",
        required=True,
        dest="cells",
        metavar=("CALIBRATION", "DATA", "FIT"),
        help="of a cell, the fit's ledger beside it; once for each cell",
    )
    parser.add_argument("--metrics", nargs="+", required=True, help="modules of dpinfer.evaluate")
    parser.add_argument("--output", type=Path, required=True, help="the .csv to write; a .json stands beside it")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write the metrics of all cells of an experiment, in their order."""
    stamp = Stamp(arguments.code)
    cells = tqdm(arguments.cells, unit="cell", mininterval=1)
    found = [evaluated(calibration, data, fit, arguments.metrics) for calibration, data, fit in cells]
    metrics = pd.concat(found, ignore_index=True)
    with replacing(arguments.output) as temporary:
        metrics.to_csv(temporary, index=False)
    stamp.write(arguments.output.with_suffix(".json"), cells=[cell[0].stem for cell in arguments.cells])


def evaluated(calibration: Path, data: Path, fit: Path, metrics: Sequence[str]) -> pd.DataFrame:
    """One row for each seed and metric, and recorded step where there are any, with labels and epsilons.

    Clients that pay differently have a row for each of their own two epsilons.
    """
    cell = experiment.open_cell(calibration, data)
    job, dataset = cell.job, cell.dataset
    done = load(fit, cell.algorithm, dataset.train)
    constant = {
        **{key: job[key] for key in ("experiment", "cell", "arm", "scale")},
        **job["labels"],
        "noise_multiplier": job["noise_multiplier"],
    }
    constant["standin"] = bool(dataset.facts.get("standin", False))
    ledger = read_json(fit.with_name("ledger.json"))
    account = _account(cell, ledger)
    rows = [
        {**constant, **account(paid), **at, "seed": seed, "metric": metric, "value": float(value)}
        for name in metrics
        for metric, paid, at, values in _values(name, cell, done)
        for seed, value in enumerate(values)
    ]
    rows += [
        {**constant, **account(cell.settings.num_steps), "client": client, **own}
        for client, epsilons in enumerate(ledger["clients"])
        for own in ({"metric": name, "value": value} for name, value in epsilons.items())
    ]
    return pd.DataFrame(rows)


def _account(cell: OpenCell, ledger: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    """What the columns say of the privacy of the first steps."""
    whole = {key: ledger[key] for key in LEDGER_COLUMNS}

    @cache
    def account(step: int) -> dict[str, Any]:
        if step == cell.settings.num_steps:
            return whole
        spent_so_far = spent(cell, step).to_dict()
        return {key: spent_so_far[key] for key in LEDGER_COLUMNS}

    return account


class Values(NamedTuple):
    """One number for each seed.

    Attributes:
        metric: What it is.
        paid: The number of steps whose privacy cost it carries.
        at: Where it is measured: columns such as the recorded step, and their values.
        values: (seeds,).
    """

    metric: str
    paid: int
    at: dict[str, Any]
    values: np.ndarray


def _values(name: str, cell: OpenCell, done: Run) -> Iterator[Values]:
    """The values of a metric; its module has one of the functions that `dpinfer.evaluate` tells of."""
    module: Any = importlib.import_module(f"dpinfer.evaluate.{name}")
    settings, model, algorithm = cell.settings, models.build(cell.settings.model), cell.algorithm
    train, test = _on_device(cell.dataset.train), _on_device(cell.dataset.test)
    once = {"reference": module.reference(settings, model, train)} if hasattr(module, "reference") else {}
    of_end = next((getattr(module, kind) for kind in ("metric", "spread") if hasattr(module, kind)), None)

    def one(own: tuple[Key, Any, Any], train: Records, test: Records, once: dict[str, Any]) -> Any:
        key, state, trace = own
        if of_end is not None:
            return of_end(key, model, lambda inner: algorithm.draw(inner, state), test, **once)
        function = module.curve if hasattr(module, "curve") else module.whole
        return function(key, model, trace, train, test, **once)

    def each(own: tuple[Key, Any, Any], *shared: Any) -> Any:
        return jax.lax.map(lambda seed: one(seed, *shared), own)

    keys = keys_for(
        # A key that no fit has used.
        experiment.key_of(cell.job["seed"], cell.job["experiment"], f"{cell.job['cell']}/evaluate"),
        settings.seeds,
    )
    arguments = ((keys, done.state, done.trace), train, test, once)
    found = hoisted(each, *arguments)(*arguments)
    first = jax.tree.map(lambda leaf: leaf[0], done.state)
    places = (
        _listed(module.places(model, lambda inner: algorithm.draw(inner, first)))
        if hasattr(module, "places")
        else [{"step": step} for step in settings.recorded]
    )
    for metric, values in (found if isinstance(found, dict) else {name: found}).items():
        columns = np.asarray(values).reshape(settings.seeds, -1).T
        for at, column in zip(places[-len(columns) :] or [{}], columns, strict=True):
            yield Values(metric, at["step"] if hasattr(module, "curve") else settings.num_steps, at, column)


def _listed(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table that is given by its columns."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _on_device(arrays: Arrays) -> Records:
    return {key: jnp.asarray(value) for key, value in arrays.items()}
