"""Compute a cell's metrics for every seed, on the test data."""

import argparse
import importlib
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pandas as pd

from dpinfer import experiment, models
from dpinfer.atomic import read_json, replacing
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import keys_for
from dpinfer.models.base import Model
from dpinfer.provenance import Stamp
from dpinfer.stages.fit import load_states
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
    """Write one row for each seed and metric, with the cell's labels and its two epsilons."""
    stamp = Stamp(arguments.code)
    job, settings, dataset, algorithm = experiment.open_cell(arguments.calibration, arguments.data)
    states = load_states(arguments.fit, algorithm, dataset.train)
    test = {key: jnp.asarray(value) for key, value in dataset.test.items()}
    key = experiment.key_of(job["seed"], job["experiment"], f"{job['cell']}/evaluate")
    values = {
        name: _per_seed(
            _metric(name), keys_for(key, settings.seeds), algorithm, models.build(settings.model), states, test
        )
        for name in arguments.metrics
    }
    constant = {
        **{key: job[key] for key in ("experiment", "cell", "arm", "scale")},
        **job["labels"],
        "noise_multiplier": job["noise_multiplier"],
        **{key: read_json(arguments.fit.with_name("ledger.json"))[key] for key in LEDGER_COLUMNS},
        "standin": bool(dataset.facts.get("standin", False)),
    }
    rows = [
        {**constant, "seed": seed, "metric": name, "value": float(value)}
        for name, per_seed in values.items()
        for seed, value in enumerate(per_seed)
    ]
    with replacing(arguments.output) as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False)
    stamp.write(arguments.output.with_suffix(".json"), **job)


def _per_seed(metric: Any, keys: Key, algorithm: Algorithm, model: Model, states: Any, test: Records) -> jax.Array:
    """The metric of each seed's posterior, by keys that no fit has used."""

    def one(own: tuple[Key, Any]) -> jax.Array:
        key, state = own
        return metric(key, model, lambda inner: algorithm.draw(inner, state), test)

    return jax.jit(lambda: jax.lax.map(one, (keys, states)))()


def _metric(name: str) -> Any:
    return importlib.import_module(f"dpinfer.evaluate.{name}").metric
