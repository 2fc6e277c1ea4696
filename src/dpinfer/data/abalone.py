"""Abalone (UCI): is a shell older than about eleven years, by its measures."""

import numpy as np

from dpinfer.data import standin
from dpinfer.data.base import Dataset, Files
from dpinfer.data.split import head, standardise
from dpinfer.settings.data import Abalone

SEX = {"I": 0.0, "F": 1.0, "M": 2.0}
COLUMNS = 8


def load(settings: Abalone, files: Files) -> Dataset:
    """Prepare Abalone as Jälkö, Dikmen and Honkela (2017) do.

    Sex is coded I 0, F 1, M 2; every column is standardised over all rows; the label is 1 for ten rings or
    more; the first 80 % of the rows, in file order, are train.

    Arrays: `x` (n, 8) float64; `y` (n,) int32 in {0, 1}.
    """
    if settings.standin:
        return standin.table(seed=4, columns=COLUMNS)
    paths, facts = files(settings.name)
    rows = np.loadtxt(paths["abalone.data"], delimiter=",", converters={0: SEX.__getitem__}, encoding="utf-8")
    y = (rows[:, COLUMNS] >= 10).astype(np.int32)
    train, test = head({"x": standardise(rows[:, :COLUMNS]), "y": y}, 0.8)
    return Dataset(train, test, {**facts, "standin": False})
