"""Compute a cell's metrics for every seed, on the test data."""

import argparse
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from dpinfer import experiment, models
from dpinfer.atomic import read_json, replacing
from dpinfer.data.base import Arrays
from dpinfer.experiment import OpenCell
from dpinfer.inference.run import Run, keys_for
from dpinfer.provenance import Stamp
from dpinfer.stages.fit import load, spent
from dpinfer.types import Key, Records

LEDGER_COLUMNS = ("eps_paper", "eps_sound", "delta", "adjacency", "accountant")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer evaluate`."""
    parser.add_argument("--calibration", type=Path, required=True, help="the cell's calibration")
    parser.add_argument("--data", type=Path, required=True, help="the .npz of the data set")
    parser.add_argument("--fit", type=Path, required=True, help="the fit's .npz, its ledger beside it")
    parser.add_argument("--metrics", nargs="+", required=True, help="modules of dpinfer.evaluate")
    parser.add_argument("--output", type=Path, required=True, help="the .csv to write; a .json stands beside it")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write one row for each seed and metric, and recorded step where there are any, with labels and epsilons."""
    stamp = Stamp(arguments.code)
    cell = experiment.open_cell(arguments.calibration, arguments.data)
    job, dataset = cell.job, cell.dataset
    done = load(arguments.fit, cell.algorithm, dataset.train)
    constant = {
        **{key: job[key] for key in ("experiment", "cell", "arm", "scale")},
        **job["labels"],
        "noise_multiplier": job["noise_multiplier"],
    }
    standin = bool(dataset.facts.get("standin", False))
    account = _account(cell, arguments.fit.with_name("ledger.json"))
    rows = [
        {
            **constant,
            **account(step),
            "standin": standin,
            "seed": seed,
            "metric": name,
            **place,
            "value": float(value),
        }
        for name in arguments.metrics
        for step, place, values in _values(name, cell, done)
        for seed, value in enumerate(values)
    ]
    with replacing(arguments.output) as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False)
    stamp.write(arguments.output.with_suffix(".json"), **job)


def _account(cell: OpenCell, ledger: Path) -> Callable[[int], dict[str, Any]]:
    """What the columns say of the privacy of the first steps; the steps are named where some were recorded."""
    whole = {key: read_json(ledger)[key] for key in LEDGER_COLUMNS}

    @cache
    def account(step: int) -> dict[str, Any]:
        if step == cell.settings.num_steps:
            columns = whole
        else:
            spent_so_far = spent(cell, step).to_dict()
            columns = {key: spent_so_far[key] for key in LEDGER_COLUMNS}
        return {**columns, "step": step} if cell.settings.recorded else columns

    return account


def _values(name: str, cell: OpenCell, done: Run) -> list[tuple[int, dict[str, Any], np.ndarray]]:
    """The metric's value for each seed, at the end or at every recorded step, at one place or at several.

    Its module has one of three functions: `metric(key, model, sample, test)`, a number for a posterior to sample
    from; `curve(key, model, trace, train, test)`, a number for each recording of a trace; or
    `spread(key, model, sample, test)`, a number for each place; `places(model, sample)` lists their columns.
    """
    module: Any = importlib.import_module(f"dpinfer.evaluate.{name}")
    model, algorithm = models.build(cell.settings.model), cell.algorithm
    train, test = _on_device(cell.dataset.train), _on_device(cell.dataset.test)

    def one(key: Key, state: Any, trace: Any) -> Any:
        if hasattr(module, "curve"):
            return module.curve(key, model, trace, train, test)
        function = module.spread if hasattr(module, "spread") else module.metric
        return jnp.atleast_1d(function(key, model, lambda inner: algorithm.draw(inner, state), test))

    keys = keys_for(
        # A key that no fit has used.
        experiment.key_of(cell.job["seed"], cell.job["experiment"], f"{cell.job['cell']}/evaluate"),
        cell.settings.seeds,
    )
    values = jax.jit(lambda: jax.lax.map(lambda own: one(*own), (keys, done.state, done.trace)))()
    last, places = cell.settings.num_steps, list[tuple[int, dict[str, Any]]]()
    if hasattr(module, "curve"):
        places = [(step, {}) for step in cell.settings.recorded]
    elif hasattr(module, "spread"):
        first = jax.tree.map(lambda leaf: leaf[0], done.state)
        columns = module.places(model, lambda inner: algorithm.draw(inner, first))
        places = [(last, dict(zip(columns, place, strict=True))) for place in zip(*columns.values(), strict=True)]
    else:
        places = [(last, {})]
    return [(*place, row) for place, row in zip(places, np.asarray(values).T, strict=True)]


def _on_device(arrays: Arrays) -> Records:
    return {key: jnp.asarray(value) for key, value in arrays.items()}
