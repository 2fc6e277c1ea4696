"""What every data set is once loaded, how tables are prepared for it, and how it is kept on disk."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpinfer.atomic import UNREADABLE, replacing
from dpinfer.errors import InputError

Arrays = dict[str, np.ndarray]


class Dataset(NamedTuple):
    """Records and what is known about them.

    Attributes:
        train: arrays by key (`x`, `y`, `group`, ...); the leading axis of each counts records.
        test: the same keys and record shapes; empty where a data set has no test part.
        facts: where the data came from or the parameters that made it, in JSON types only.
    """

    train: Arrays
    test: Arrays
    facts: dict[str, Any]

    @property
    def num_records(self) -> int:
        """How many records there are to learn from, which is public."""
        return len(next(iter(self.train.values())))


class Fetched(NamedTuple):
    """Verified files of one real data set: their paths by file name, and their origin in JSON types."""

    paths: dict[str, Path]
    facts: dict[str, Any]


# Gives, for the name of a real data set, all its files, each with the right sha256.
Files = Callable[[str], Fetched]
# Loads one data set; the first argument is of its own class of `pipeline.settings.data`.
Loader = Callable[[Any, Files], Dataset]


def standardise(columns: np.ndarray) -> np.ndarray:
    """Shift and scale each column of an (n, d) array to mean 0 and variance 1 (divisor n).

    The constants come from all rows given, without privacy: a guarantee on what is computed from the result
    takes them as public.
    """
    spread: np.ndarray = columns.std(axis=0)
    scaled: np.ndarray = (columns - columns.mean(axis=0)) / spread
    return scaled


def head(arrays: Arrays, fraction: float) -> tuple[Arrays, Arrays]:
    """Split records in their order: the first int(fraction * n), and the rest."""
    count = int(fraction * len(next(iter(arrays.values()))))
    return (
        {key: value[:count] for key, value in arrays.items()},
        {key: value[count:] for key, value in arrays.items()},
    )


def save(path: Path, dataset: Dataset) -> None:
    """Write a data set as an uncompressed .npz with keys `train/x`, `test/x`, ... and `facts` (JSON bytes).

    Guarantee: equal content gives equal bytes, and `path` never holds a partly written file.
    """
    arrays = {f"{part}/{key}": value for part in ("train", "test") for key, value in _part(dataset, part)}
    facts = json.dumps(dataset.facts, sort_keys=True).encode()
    with replacing(path) as temporary:
        np.savez(temporary, allow_pickle=False, facts=np.frombuffer(facts, dtype=np.uint8), **arrays)


def read(path: Path) -> Dataset:
    """Read back what `save` wrote.

    Raises:
        InputError: the file is missing or is not such an .npz.
    """
    try:
        with path.open("rb") as source, np.load(source, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
        facts = json.loads(arrays.pop("facts").tobytes())
        parts: dict[str, Arrays] = {"train": {}, "test": {}}
        for key, value in arrays.items():
            part, _, name = key.partition("/")
            parts[part][name] = value
    except UNREADABLE as error:
        raise InputError(f"{path} is not a data set written by this package: {error!r}") from error
    return Dataset(parts["train"], parts["test"], facts)


def _part(dataset: Dataset, part: str) -> list[tuple[str, np.ndarray]]:
    return sorted((dataset.train if part == "train" else dataset.test).items())
