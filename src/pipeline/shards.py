"""A shard: cells of one experiment that one process makes one after the other, each with a stamp of its own.

A cell is left as it is if its stamp has the identity that it should have: the same settings, code and inputs. So
one more value in a grid makes one cell, a job that was killed goes on with the first cell that is not there, and a
cell that fails does not keep the others from being made.
"""

import argparse
import gc
import hashlib
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from dpinfer.atomic import from_json, read_json, to_json
from dpinfer.errors import InputError
from pipeline.artifacts import Artifacts

Item = TypeVar("Item")
Task = Mapping[str, Any]
"""What a stage is to do for a cell: names, settings, the digest of the code, and whatever else the stage needs."""
MOST_MAPPED = 20_000
"""Pieces of memory; Linux allows a process 65 530, and every program that XLA compiles takes several."""


class Stage(NamedTuple):
    """How a stage makes a cell.

    Attributes:
        name: Its name in the plan.
        files: `(artifacts, task) -> files` of a cell, last of all its stamp, which has the identity and is written
            when all others are there.
        inputs: `(artifacts, task) -> plain data` that stands for all that the stage reads.
        make: `(artifacts, task, identity)`, which makes the cell.
    """

    name: str
    files: Callable[[Artifacts, Task], Sequence[Path]]
    inputs: Callable[[Artifacts, Task], Any]
    make: Callable[[Artifacts, Task, str], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of a stage that works on shards."""
    parser.add_argument("tasks", type=Path, help="the .json with the tasks of an experiment, in results/tasks")
    parser.add_argument("--shard", default="1of1", help="which of how many equal parts of the cells")
    parser.add_argument("--digest", help="digest of these tasks; a file with others is refused")
    parser.add_argument("--output", type=Path, required=True, help="the file to write when all cells are made")


def run(stage: Stage, arguments: argparse.Namespace) -> dict[str, str]:
    """Make all cells of a shard that are not there yet; returns the identities of all.

    Raises:
        InputError: Some cell could not be made; all others were.
    """
    artifacts = Artifacts(arguments.tasks.parent.parent)
    tasks = read(arguments.tasks, stage.name, arguments.shard, arguments.digest)
    made, failed = dict[str, str](), list[str]()
    for task in tasks:
        try:
            made[task["cell"]] = _make(stage, artifacts, task)
        except (InputError, OSError, ArithmeticError) as error:
            failed.append(f"{task['cell']}: {error}")
        except Exception:
            failed.append(f"{task['cell']}: {traceback.format_exc()}")
    if failed:
        raise InputError("\n".join([f"{len(failed)} of {len(tasks)} cells could not be made", *failed]))
    return made


def cut(items: Sequence[Item], shard: str) -> list[Item]:
    """The part of a list that is a shard, such as `2of3`."""
    number, of, count = shard.partition("of")
    if not (of and number.isdigit() and count.isdigit() and 0 < int(number) <= int(count)):
        raise InputError(f"the shard is {shard}, but should be as 2of3")
    return list(items[int(number) - 1 :: int(count)])


def digest_of(content: Any) -> str:
    """A digest of plain data."""
    return hashlib.sha256(to_json(content).encode()).hexdigest()[:32]


@cache
def digest_of_file(path: Path) -> str:
    """A digest of what is in a file, which does not change while a stage runs."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:32]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def identity_of(stamp: Path) -> str:
    """The identity that a stamp tells."""
    content = read_json(stamp)
    if not isinstance(content, dict) or not isinstance(content.get("identity"), str):
        raise InputError(f"{stamp} is not a stamp written by this package: it has no identity")
    return content["identity"]


def read(path: Path, stage: str, shard: str, expected: str | None) -> list[Task]:
    """Read the tasks of a shard.

    Raises:
        InputError: They are not those of the plan, or the file is no list of tasks.
    """
    content = read_json(path)
    if not isinstance(content, dict) or not isinstance(content.get(stage), list):
        raise InputError(f"{path} has no tasks of the stage {stage}")
    tasks = cut(content[stage], shard)
    if expected is not None and digest_of(tasks) != expected:
        raise InputError(f"{path} was changed after this job was planned: run again")
    return tasks


def _make(stage: Stage, artifacts: Artifacts, task: Task) -> str:
    """Make a cell unless it is there; returns its identity."""
    identity = digest_of([task, stage.inputs(artifacts, task)])
    *others, stamp = stage.files(artifacts, task)
    if not (all(path.is_file() for path in others) and _has(stamp, identity)):
        print(f"{task['experiment']}, {task['cell']}", file=sys.stderr, flush=True)
        stage.make(artifacts, task, identity)
        _forget_programs()
    return identity


def _has(stamp: Path, identity: str) -> bool:
    try:
        return bool(from_json(stamp.read_text(encoding="utf-8"))["identity"] == identity)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _forget_programs() -> None:
    """Let compiled programs go before those of many cells are more than a process may hold."""
    maps = Path("/proc/self/maps")
    if "jax" in sys.modules and maps.exists() and maps.read_bytes().count(b"\n") > MOST_MAPPED:
        sys.modules["jax"].clear_caches()
        gc.collect()
