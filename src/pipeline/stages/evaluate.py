"""Compute the metrics of an experiment's cells for every seed, on the test data, and gather them in one table."""

import argparse
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from dpinfer.atomic import read_json, replacing
from dpinfer.errors import InputError
from dpinfer.inference.compiled import hoisted
from dpinfer.inference.run import Run, keys_for
from dpinfer.models.base import Model
from dpinfer.types import Key, Records
from pipeline import experiment, registry, shards
from pipeline.artifacts import Artifacts
from pipeline.datasets.base import Arrays
from pipeline.derived import recorded
from pipeline.experiment import OpenCell
from pipeline.metrics.base import Fitted, Metric
from pipeline.provenance import Stamp
from pipeline.shards import Stage, Task, digest_of_file, identity_of
from pipeline.stages.fit import load

Row = dict[str, Any]

add_arguments = shards.add_arguments


def main(arguments: argparse.Namespace) -> None:
    """Write the metrics of all cells of an experiment, in their order."""
    stamp = Stamp(str(arguments.digest))
    stage = Stage("evaluate", lambda kept, task: [kept.rows(*_names(task))], _inputs, _evaluate)
    made, artifacts = shards.run(stage, arguments), Artifacts(arguments.tasks.parent.parent)
    tables = [_table(artifacts.rows(arguments.tasks.stem, cell)) for cell in made]
    with replacing(arguments.output) as temporary:
        pd.concat(tables, ignore_index=True).to_csv(temporary, index=False)
    stamp.write(arguments.output.with_suffix(".json"), cells=made)


def _names(task: Task) -> tuple[str, str]:
    return task["experiment"], task["cell"]


def _inputs(artifacts: Artifacts, task: Task) -> list[str]:
    """The fit, what was fitted to what, and what it cost."""
    names = _names(task)
    return [
        digest_of_file(artifacts.fit(*names)),
        identity_of(artifacts.stamp(*names)),
        identity_of(artifacts.account(*names)),
    ]


def _table(path: Path) -> pd.DataFrame:
    """The rows of a cell; what is not a number is none in their file."""
    rows = read_json(path)["rows"]
    return pd.DataFrame([row | {"value": math.nan if row["value"] is None else row["value"]} for row in rows])


def _evaluate(artifacts: Artifacts, task: Task, identity: str) -> None:
    """Write the rows of a cell: one for each seed and metric, and recorded step where there are any."""
    stamp, rows = Stamp(task["code"]), [_plain(row) for row in _rows(artifacts, task)]
    stamp.write(artifacts.rows(*_names(task)), identity=identity, rows=rows)


def _plain(row: Row) -> Row:
    """A row in types that JSON has."""
    values = {key: value.item() if isinstance(value, np.generic) else value for key, value in row.items()}
    return values | {"value": None if pd.isna(row["value"]) else row["value"]}


def _rows(artifacts: Artifacts, task: Task) -> Iterator[Row]:
    """One row for each seed and metric, and recorded step where there are any, with labels and epsilons.

    Clients that pay differently have a row for each of their own two epsilons.
    """
    names = _names(task)
    cell = experiment.read_cell(artifacts.stamp(*names), artifacts.data(task["data"]))
    done = load(artifacts.fit(*names), cell.algorithm, cell.dataset.train)
    constant = {
        **{key: task[key] for key in ("experiment", "cell", "arm", "scale")},
        **task["labels"],
        "noise_multiplier": cell.job["noise_multiplier"],
        "standin": bool(cell.dataset.facts.get("standin", False)),
    }
    ledger, account = _account(artifacts.account(*names))
    for name in task["metrics"]:
        for quantity, paid, at, values in _values(name, registry.metric(name), cell, done):
            for seed, value in enumerate(values):
                yield {
                    **constant, **account(paid), **at, "seed": seed, "metric": quantity, "value": float(value)
                }  # fmt: skip
    for client, epsilons in enumerate(ledger["clients"]):
        for name, value in epsilons.items():
            yield {
                **constant,
                **account(cell.settings.num_steps),
                "client": client,
                "metric": name,
                "value": value,
            }


def _account(path: Path) -> tuple[Row, Callable[[int], Row]]:
    """The ledger of a run, and what the columns say of the privacy of its first steps."""
    content = read_json(path)
    if not isinstance(content, dict) or not {"ledger", "steps"} <= content.keys():
        raise InputError(f"{path} is not an account written by this package")
    return content["ledger"], lambda step: content["steps"][str(step)]


class Values(NamedTuple):
    """One number for each seed.

    Attributes:
        quantity: What it is.
        paid: The number of steps whose privacy cost it carries.
        at: Where it is measured: columns such as the recorded step, and their values.
        values: (seeds,).
    """

    quantity: str
    paid: int
    at: dict[str, Any]
    values: np.ndarray


def _values(name: str, metric: Metric, cell: OpenCell, done: Run) -> Iterator[Values]:
    """The values of a metric: of one quantity that bears its name, or of several with names of their own."""
    settings, model = cell.settings, registry.model(cell.settings.model)
    found = _computed(metric, model, cell, done)
    places = _places(metric, model, cell, done)
    for quantity, values in (found if isinstance(found, dict) else {name: found}).items():
        columns = np.asarray(values).reshape(settings.seeds, -1).T
        # A single value stands at the last place.
        for at, column in zip(places[-len(columns) :] or [{}], columns, strict=True):
            yield Values(quantity, at["step"] if metric.kind == "curve" else settings.num_steps, at, column)


def _computed(metric: Metric, model: Model, cell: OpenCell, done: Run) -> Any:
    """What the metric's function says of every seed, which is the leading axis."""
    settings, algorithm = cell.settings, cell.algorithm
    train, test = _on_device(cell.dataset.train), _on_device(cell.dataset.test)
    reference = None if metric.reference is None else metric.reference(settings, model, train)

    def each(own: tuple[Key, Any, Any], *shared: Any) -> Any:
        def one(seed: tuple[Key, Any, Any]) -> Any:
            key, state, trace = seed
            return metric.function(Fitted(key, model, lambda inner: algorithm.draw(inner, state), trace, *shared))

        return jax.lax.map(one, own)

    keys = keys_for(
        # A key that no fit has used.
        experiment.key_of(cell.job["seed"], cell.job["experiment"], f"{cell.job['cell']}/evaluate"),
        settings.seeds,
    )
    arguments = ((keys, done.state, done.trace), train, test, reference)
    return hoisted(each, *arguments)(*arguments)


def _places(metric: Metric, model: Model, cell: OpenCell, done: Run) -> list[dict[str, Any]]:
    """Where values are measured: at places that the metric names, or at the recorded steps."""
    if metric.places is None:
        return [{"step": step} for step in recorded(cell.settings)]
    first = jax.tree.map(lambda leaf: leaf[0], done.state)
    return _listed(metric.places(model, lambda key: cell.algorithm.draw(key, first)))


def _listed(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table that is given by its columns."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _on_device(arrays: Arrays) -> Records:
    return {key: jnp.asarray(value) for key, value in arrays.items()}
