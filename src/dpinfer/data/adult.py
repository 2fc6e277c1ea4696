"""Adult (UCI): is an income above 50K, by census data."""

from pathlib import Path

import numpy as np
import pandas as pd

from dpinfer.data import standin
from dpinfer.data.base import Dataset, Files
from dpinfer.data.split import head, standardise
from dpinfer.settings.data import Adult

ATTRIBUTES = 14
NUMERIC = [0, 2, 4, 10, 11, 12]
CATEGORICAL = [1, 3, 5, 6, 7, 8, 9, 13]
ONE_HOT_COLUMNS = 108


def load(settings: Adult, files: Files) -> Dataset:
    """Prepare Adult as Jälkö, Dikmen and Honkela (2017) do, as far as their results tell.

    The train and the test file are joined in file order, and rows with a missing value (`?`, a category like
    any other) are kept; numbers are standardised over all rows; the first 80 % of the rows are train. With
    `sorted` codes, logistic regression without intercept comes within 0.002 of their non-private accuracy; their
    private accuracies are nearer to those with codes by `frequency`.

    Arrays: `x` (n, 14) float64 for codes, columns in file order, or (n, 108) float64 for one-hot, the
    six numeric columns first; `y` (n,) int32, 1 for an income above 50K.
    """
    one_hot = settings.encoding == "one_hot"
    if settings.standin:
        return standin.table(seed=5, columns=ONE_HOT_COLUMNS if one_hot else ATTRIBUTES)
    paths, facts = files(settings.name)
    # The test file opens with a line that is no record, and ends its labels with a full stop.
    rows = pd.concat([_read(paths["adult.data"], 0), _read(paths["adult.test"], 1)], ignore_index=True)
    y = rows[ATTRIBUTES].str.rstrip(".").eq(">50K").to_numpy().astype(np.int32)
    x = _one_hot(rows) if one_hot else _coded(rows, by_frequency=settings.encoding == "frequency")
    train, test = head({"x": x, "y": y}, 0.8)
    return Dataset(train, test, {**facts, "standin": False})


def _read(path: Path, skip: int) -> pd.DataFrame:
    return pd.read_csv(path, header=None, skiprows=skip, skipinitialspace=True, na_filter=False)


def _coded(rows: pd.DataFrame, *, by_frequency: bool) -> np.ndarray:
    x = np.empty((len(rows), ATTRIBUTES))
    x[:, NUMERIC] = rows[NUMERIC]
    for column in CATEGORICAL:
        _, codes, counts = np.unique(rows[column].to_numpy(dtype=str), return_inverse=True, return_counts=True)
        # The most frequent category becomes 0.
        ranks = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
        x[:, column] = ranks[codes] if by_frequency else codes
    return standardise(x)


def _one_hot(rows: pd.DataFrame) -> np.ndarray:
    indicators = pd.get_dummies(rows[CATEGORICAL]).to_numpy(dtype=np.float64)
    return np.hstack([standardise(rows[NUMERIC].to_numpy(dtype=np.float64)), indicators])
