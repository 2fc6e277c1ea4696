"""Preparation of tables that more than one data set needs."""

import numpy as np

from dpinfer.data.base import Arrays


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
