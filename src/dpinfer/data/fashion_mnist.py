"""Fashion-MNIST: pieces of clothing (Xiao, Rasul and Vollgraf, 2017)."""

from dpinfer.data import idx, standin
from dpinfer.data.base import Dataset, Files
from dpinfer.settings.data import FashionMnist


def load(settings: FashionMnist, files: Files) -> Dataset:
    """Arrays: `x` (n, 28, 28) uint8; `y` (n,) int32 in 0..9; 60 000 train and 10 000 test records."""
    return standin.images(seed=2, shape=(28, 28)) if settings.standin else idx.load(files(settings.name))
