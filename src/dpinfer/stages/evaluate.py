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
    """Write one row for each seed and metric, and recorded step where there are any, with labels and epsilons.

    Clients that pay differently have a row for each of their own two epsilons.
    """
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
    ledger = read_json(arguments.fit.with_name("ledger.json"))
    account = _account(cell, ledger)
    rows = [
        {**constant, **account(step), "standin": standin, "seed": seed, "metric": metric, "value": float(value)}
        for name in arguments.metrics
        for metric, step, values in _values(name, cell, done)
        for seed, value in enumerate(values)
    ]
    rows += [
        {**constant, **account(cell.settings.num_steps), "standin": standin, "client": client, **own}
        for client, epsilons in enumerate(ledger["clients"])
        for own in ({"metric": name, "value": value} for name, value in epsilons.items())
    ]
    with replacing(arguments.output) as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False)
    stamp.write(arguments.output.with_suffix(".json"), **job)


def _account(cell: OpenCell, ledger: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    """What the columns say of the privacy of the first steps; the steps are named where some were recorded."""
    whole = {key: ledger[key] for key in LEDGER_COLUMNS}

    @cache
    def account(step: int) -> dict[str, Any]:
        if step == cell.settings.num_steps:
            columns = whole
        else:
            spent_so_far = spent(cell, step).to_dict()
            columns = {key: spent_so_far[key] for key in LEDGER_COLUMNS}
        return {**columns, "step": step} if cell.settings.recorded else columns

    return account


def _values(name: str, cell: OpenCell, done: Run) -> list[tuple[str, int, np.ndarray]]:
    """The metric's values for all seeds, at the end or at every recorded step.

    Its module has either `metric(key, model, sample, test)`, a number for a posterior to sample from, or
    `curve(key, model, trace, train, test)`, a number for each recording of a trace, or several of these by name.
    """
    module: Any = importlib.import_module(f"dpinfer.evaluate.{name}")
    model, algorithm = models.build(cell.settings.model), cell.algorithm
    train, test = _on_device(cell.dataset.train), _on_device(cell.dataset.test)

    def at_end(key: Key, state: Any, trace: Any) -> Any:
        del trace
        return module.metric(key, model, lambda inner: algorithm.draw(inner, state), test)[None]

    def along(key: Key, state: Any, trace: Any) -> Any:
        del state
        return module.curve(key, model, trace, train, test)

    of_curve = hasattr(module, "curve")
    keys = keys_for(
        # A key that no fit has used.
        experiment.key_of(cell.job["seed"], cell.job["experiment"], f"{cell.job['cell']}/evaluate"),
        cell.settings.seeds,
    )
    one = along if of_curve else at_end
    values = jax.jit(lambda: jax.lax.map(lambda own: one(*own), (keys, done.state, done.trace)))()
    steps = cell.settings.recorded if of_curve else [cell.settings.num_steps]
    named = values if isinstance(values, dict) else {name: values}
    return [
        (metric, step, at_step)
        for metric, found in named.items()
        for step, at_step in zip(steps, np.asarray(found).T, strict=True)
    ]


def _on_device(arrays: Arrays) -> Records:
    return {key: jnp.asarray(value) for key, value in arrays.items()}
