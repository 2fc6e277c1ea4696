"""Run the algorithms of an experiment's cells for all their seeds, and write states and what was released."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.events import to_dict
from dpinfer.atomic import UNREADABLE, read_json, replacing, write_json
from dpinfer.errors import InputError
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import Checkpoint, Run, keys_for, run_seeds
from dpinfer.random.threefry import generator
from pipeline import experiment, shards
from pipeline.artifacts import Artifacts
from pipeline.datasets.base import Arrays
from pipeline.derived import given_noise, recorded
from pipeline.experiment import OpenCell
from pipeline.provenance import Stamp
from pipeline.settings.method import Method
from pipeline.settings.yaml import parse
from pipeline.shards import Stage, Task, digest_of_file

PARTS = ("state", "trace")
"""What the names in a fit's file begin with: the last states, and what was kept of recorded steps."""

add_arguments = shards.add_arguments


def main(arguments: argparse.Namespace) -> None:
    """Fit each cell, check that all is finite, then write."""
    write_json(arguments.output, shards.run(Stage("fit", _files, _inputs, _fit), arguments))


def _files(artifacts: Artifacts, task: Task) -> tuple[Path, Path]:
    names = task["experiment"], task["cell"]
    return artifacts.fit(*names), artifacts.stamp(*names)


def _inputs(artifacts: Artifacts, task: Task) -> list[Any]:
    """The noise, the records, and what the run starts from."""
    start = None if task["start"] is None else digest_of_file(artifacts.fit(*task["start"]))
    data = digest_of_file(artifacts.data(task["data"]))
    return [_noise(artifacts, task), _correction(artifacts, task), start, data]


def _noise(artifacts: Artifacts, task: Task) -> dict[str, Any]:
    """The noise multiplier as it was calibrated or given, and settings that follow from it."""
    if not task["calibrated"]:
        settings: Method = parse(Method, task["settings"], artifacts.tasks(task["experiment"]))
        return {"noise_multiplier": given_noise(settings), "completed": {}}
    path = artifacts.calibration(task["experiment"], task["cell"])
    found = read_json(path)
    missing = [key for key in ("noise_multiplier", "completed") if not isinstance(found, dict) or key not in found]
    if missing:
        raise InputError(f"{path} is not a calibration written by this package: it has no {missing[0]}")
    return {key: found[key] for key in ("noise_multiplier", "completed")}


def _correction(artifacts: Artifacts, task: Task) -> Any:
    return None if task["correction"] is None else read_json(artifacts.correction(task["correction"]))["mixture"]


def _fit(artifacts: Artifacts, task: Task, identity: str) -> None:
    stamp, cell = Stamp(task["code"]), _open(artifacts, task)
    names = task["experiment"], task["cell"]
    settings, dataset, algorithm = cell.settings, cell.dataset, cell.algorithm
    key, path = experiment.key_of(task["seed"], *names), artifacts.fit(*names)
    checkpoint = Checkpoint(path.with_name("checkpoint.npz"), identity=identity)
    done = run_seeds(
        algorithm,
        keys_for(key, settings.seeds),
        _records(dataset.train),
        settings.num_steps,
        record=algorithm.keep if settings.record_every else None,
        record_every=settings.record_every,
        checkpoint=checkpoint,
        progress=True,
    )
    _refuse_non_finite(done)
    _save(path, done)
    checkpoint.remove()
    stamp.write(
        artifacts.stamp(*names),
        identity=identity,
        **cell.job,
        standin=dataset.facts.get("standin", False),
        generator=generator(key),
        releases=list(_releases(cell)),
    )


def _open(artifacts: Artifacts, task: Task) -> OpenCell:
    """The cell with its noise, and with what earlier stages give it."""
    noise, settings = _noise(artifacts, task), dict(task["settings"])
    job = {
        **{key: task[key] for key in ("experiment", "cell", "seed")},
        "settings": settings | noise["completed"],
        "noise_multiplier": noise["noise_multiplier"],
        "correction": _correction(artifacts, task),
        "start": None if task["start"] is None else _start(artifacts, task),
    }
    return experiment.open_cell(job, artifacts.data(task["data"]), artifacts.tasks(task["experiment"]))


def _start(artifacts: Artifacts, task: Task) -> list[Any]:
    """The leaves of the point that the first seed of an earlier fit to the same data led to."""
    names = task["start"]
    earlier = experiment.read_cell(artifacts.stamp(*names), artifacts.data(task["data"]))
    done = load(artifacts.fit(*names), earlier.algorithm, earlier.dataset.train)
    state = jax.tree.map(lambda leaf: leaf[0], done.state)
    return [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(earlier.algorithm.centre(state))]


def _releases(cell: OpenCell) -> Iterator[dict[str, Any]]:
    """What one repetition has released by each recorded step and by its end, and how the paper sees it."""
    settings = cell.settings
    claimed = experiment.claimed(settings, cell.dataset.num_records, cell.job["noise_multiplier"])
    for step in dict.fromkeys([*recorded(settings), settings.num_steps]):
        yield {
            "step": step,
            "event": to_dict(cell.algorithm.event(step)),
            "claimed": to_dict(claimed(step)),
        }


def load(path: Path, algorithm: Algorithm, records: Arrays) -> Run:
    """Read a fit of all seeds back into the shape that the algorithm gives it."""
    key = jax.random.key(0)
    state = jax.eval_shape(algorithm.init, key, _records(records))
    kept = jax.eval_shape(lambda own, at: algorithm.keep(*algorithm.step(own, at, _records(records))), key, state)
    try:
        with path.open("rb") as source, np.load(source, allow_pickle=False) as stored:
            leaves = {
                part: [jnp.asarray(stored[name]) for name in stored.files if name.startswith(part)]
                for part in PARTS
            }
        trees = {"state": state, "trace": kept if leaves["trace"] else None}
        return Run(**{part: jax.tree.unflatten(jax.tree.structure(trees[part]), leaves[part]) for part in PARTS})
    except UNREADABLE as error:
        raise InputError(f"{path} is not a fit of this cell: {error}") from error


def _save(path: Path, done: Run) -> None:
    """Write the leaves of states and traces under the names that they have in their trees."""
    named = {
        part + jax.tree_util.keystr(where): np.asarray(leaf)
        for part, tree in zip(PARTS, done, strict=True)
        for where, leaf in jax.tree.leaves_with_path(tree)
    }
    with replacing(path) as temporary:
        np.savez(temporary, allow_pickle=False, **named)


def _records(arrays: Arrays) -> dict[str, jax.Array]:
    return {key: jnp.asarray(value) for key, value in arrays.items()}


def _refuse_non_finite(done: Run) -> None:
    for part, tree in zip(PARTS, done, strict=True):
        for where, leaf in jax.tree.leaves_with_path(tree):
            finite = np.isfinite(np.asarray(leaf)).reshape(len(leaf), -1).all(axis=1)
            if not finite.all():
                name, seed = jax.tree_util.keystr(where), int(np.argmin(finite))
                raise FloatingPointError(f"the {part}{name} of seed {seed} is not finite")
