"""Images: MNIST, Fashion-MNIST and CIFAR-10, the formats of their files, and the scale of their pixels."""

from pathlib import Path

import numpy as np

from dpinfer.errors import InputError
from pipeline.datasets import standin
from pipeline.datasets.base import Arrays, Dataset, Fetched, Files, Loader
from pipeline.settings.data import Cifar10, FashionMnist, Mnist

# One label, then the red, the green and the blue plane of one image.
CIFAR_RECORD = 1 + 3 * 32 * 32


def mnist(settings: Mnist, files: Files) -> Dataset:
    """Handwritten digits (LeCun, Bottou, Bengio and Haffner, 1998).

    Arrays: `x` (n, 28, 28) uint8; `y` (n,) int32, the digit; 60 000 train and 10 000 test records.
    """
    return standin.images(seed=1, shape=(28, 28)) if settings.standin else _from_idx(files(settings.name))


def fashion_mnist(settings: FashionMnist, files: Files) -> Dataset:
    """Pieces of clothing (Xiao, Rasul and Vollgraf, 2017).

    Arrays: `x` (n, 28, 28) uint8; `y` (n,) int32 in 0..9; 60 000 train and 10 000 test records.
    """
    return standin.images(seed=2, shape=(28, 28)) if settings.standin else _from_idx(files(settings.name))


def cifar10(settings: Cifar10, files: Files) -> Dataset:
    """Small colour photographs (Krizhevsky, 2009).

    Arrays: `x` (n, 32, 32, 3) uint8; `y` (n,) int32 in 0..9; 50 000 train and 10 000 test records.
    """
    if settings.standin:
        return standin.images(seed=3, shape=(32, 32, 3))
    paths, facts = files(settings.name)
    train = [paths[f"data_batch_{number}.bin"] for number in range(1, 6)]
    return Dataset(_read_cifar(train), _read_cifar([paths["test_batch.bin"]]), {**facts, "standin": False})


def read_idx(path: Path) -> np.ndarray:
    """Read an idx file of bytes: 0, 0, 8, rank, the big-endian lengths, then the values.

    Raises:
        InputError: the file is no such file, or is cut short.
    """
    content = path.read_bytes()
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise InputError(f"{path} is not an idx file of bytes")
    rank = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=rank, offset=4)
    values = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * rank)
    if values.size != shape.prod():
        raise InputError(f"{path} holds {values.size} values, but its header says {shape.prod()}")
    return values.reshape(shape.tolist())


def unit(images: np.ndarray) -> np.ndarray:
    """Map bytes 0..255 to float32 in [0, 1]; the shape is kept."""
    return images.astype(np.float32) / np.float32(255)


def centred(images: np.ndarray) -> np.ndarray:
    """Map bytes 0..255 to float32 in [-1, 1]; the shape is kept."""
    return unit(images) * np.float32(2) - np.float32(1)


def _from_idx(fetched: Fetched) -> Dataset:
    """Read the four files of MNIST, or of a data set made in its image."""
    train, test = (_idx_part(fetched, prefix) for prefix in ("train", "t10k"))
    return Dataset(train, test, {**fetched.facts, "standin": False})


def _idx_part(fetched: Fetched, prefix: str) -> Arrays:
    return {
        "x": read_idx(fetched.paths[f"{prefix}-images-idx3-ubyte"]),
        "y": read_idx(fetched.paths[f"{prefix}-labels-idx1-ubyte"]).astype(np.int32),
    }


def _read_cifar(batches: list[Path]) -> Arrays:
    rows = np.concatenate([np.fromfile(path, dtype=np.uint8).reshape(-1, CIFAR_RECORD) for path in batches])
    planes = rows[:, 1:].reshape(-1, 3, 32, 32)
    return {"x": np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), "y": rows[:, 0].astype(np.int32)}


LOADERS: dict[str, Loader] = {"mnist": mnist, "fashion_mnist": fashion_mnist, "cifar10": cifar10}
