"""Data sets as NumPy arrays: a file for each kind, with a table of those it loads."""

from pipeline.datasets.base import Dataset, Files
from pipeline.registry import dataset_loader
from pipeline.settings.data import Data


def load(settings: Data, files: Files) -> Dataset:
    """Load or generate the data set that `settings` names.

    Args:
        settings: one of the classes of `pipeline.settings.data`.
        files: gives the verified files of a real data set, e.g. a `pipeline.datasets.fetch.Fetcher`; it is
            called for real data only.
    """
    dataset: Dataset = dataset_loader(settings.name)(settings, files)
    return dataset
