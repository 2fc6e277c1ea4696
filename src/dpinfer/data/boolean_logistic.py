"""The majority of three bits, for logistic regression."""

import numpy as np

from dpinfer.data.base import Arrays, Dataset, Files
from dpinfer.settings.data import BooleanLogistic


def load(settings: BooleanLogistic, files: Files) -> Dataset:
    """List all boolean 3-vectors, labelled 1 if at least two entries are 1.

    Arrays: `x` (8 copies, 3) float64 in {0, 1}, copies of a vector adjacent; `y` (8 copies,) int32. The test
    part holds each vector once.
    """
    del files
    x = np.array(list(np.ndindex(2, 2, 2)), dtype=np.float64)
    once: Arrays = {"x": x, "y": (x.sum(axis=1) >= 2).astype(np.int32)}
    train = {key: np.repeat(value, settings.copies, axis=0) for key, value in once.items()}
    return Dataset(train, once, facts={})
