"""Data sets as NumPy arrays: one small module for each, which bears the name used in the settings."""

import importlib

from dpinfer.data.base import Dataset, Files
from dpinfer.settings.data import Data


def load(settings: Data, files: Files) -> Dataset:
    """Load or generate the data set that `settings` names.

    Args:
        settings: one of the classes of `dpinfer.settings.data`.
        files: gives the verified files of a real data set, e.g. a `dpinfer.data.sources.Fetcher`; it is
            called for real data only.
    """
    module = importlib.import_module(f"{__name__}.{settings.name}")
    dataset: Dataset = module.load(settings, files)
    return dataset
