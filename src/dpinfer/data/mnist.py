"""MNIST: handwritten digits (LeCun, Bottou, Bengio and Haffner, 1998)."""

from dpinfer.data import idx, standin
from dpinfer.data.base import Dataset, Files
from dpinfer.settings.data import Mnist


def load(settings: Mnist, files: Files) -> Dataset:
    """Arrays: `x` (n, 28, 28) uint8; `y` (n,) int32, the digit; 60 000 train and 10 000 test records."""
    return standin.images(seed=1, shape=(28, 28)) if settings.standin else idx.load(files(settings.name))
