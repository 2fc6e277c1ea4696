"""CIFAR-10: small colour photographs (Krizhevsky, 2009)."""

from pathlib import Path

import numpy as np

from dpinfer.data import standin
from dpinfer.data.base import Arrays, Dataset, Files
from dpinfer.settings.data import Cifar10

# One label, then the red, the green and the blue plane of one image.
RECORD = 1 + 3 * 32 * 32


def load(settings: Cifar10, files: Files) -> Dataset:
    """Arrays: `x` (n, 32, 32, 3) uint8; `y` (n,) int32 in 0..9; 50 000 train and 10 000 test records."""
    if settings.standin:
        return standin.images(seed=3, shape=(32, 32, 3))
    paths, facts = files(settings.name)
    train = [paths[f"data_batch_{number}.bin"] for number in range(1, 6)]
    return Dataset(_read(train), _read([paths["test_batch.bin"]]), {**facts, "standin": False})


def _read(batches: list[Path]) -> Arrays:
    rows = np.concatenate([np.fromfile(path, dtype=np.uint8).reshape(-1, RECORD) for path in batches])
    planes = rows[:, 1:].reshape(-1, 3, 32, 32)
    return {"x": np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), "y": rows[:, 0].astype(np.int32)}
