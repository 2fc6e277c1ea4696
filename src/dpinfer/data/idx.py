"""The idx format of MNIST and of the data sets made in its image."""

from pathlib import Path

import numpy as np

from dpinfer.data.base import Arrays, Dataset, Fetched
from dpinfer.errors import InputError


def load(fetched: Fetched) -> Dataset:
    """Read the four files of an MNIST-like data set.

    Arrays: `x` (n, 28, 28) uint8; `y` (n,) int32 in 0..9.
    """
    return Dataset(_part(fetched, "train"), _part(fetched, "t10k"), {**fetched.facts, "standin": False})


def read(path: Path) -> np.ndarray:
    """Read an idx file of bytes: 0, 0, 8, rank, the big-endian lengths, then the values."""
    content = path.read_bytes()
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise InputError(f"{path} is not an idx file of bytes")
    rank = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=rank, offset=4)
    values = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * rank)
    if values.size != shape.prod():
        raise InputError(f"{path} holds {values.size} values, but its header says {shape.prod()}")
    return values.reshape(shape.tolist())


def _part(fetched: Fetched, prefix: str) -> Arrays:
    return {
        "x": read(fetched.paths[f"{prefix}-images-idx3-ubyte"]),
        "y": read(fetched.paths[f"{prefix}-labels-idx1-ubyte"]).astype(np.int32),
    }
