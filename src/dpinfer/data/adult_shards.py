"""Adult (UCI) in shards of equal size, alike or by education."""

import numpy as np

from dpinfer.data import adult
from dpinfer.data.base import Dataset, Files
from dpinfer.settings.data import Adult, AdultShards

EDUCATION = 4
"""Column of the years of education."""


def load(settings: AdultShards, files: Files) -> Dataset:
    """Prepare Adult with sorted codes, and put the train records into the order of their clients.

    Arrays: those of `adult`, and `group` (n,) int32, the client, in ascending order; the test records have no
    client, their group is -1. Facts: those of `adult`, and `sizes` (records by client).
    """
    train, test, facts = adult.load(Adult(standin=settings.standin), files)
    count = len(train["y"])
    by_education = np.argsort(train["x"][:, EDUCATION], kind="stable")
    order = by_education if settings.dealt == "by_education" else np.arange(count)
    shards = np.array_split(order, settings.clients)
    sizes = [len(shard) for shard in shards]
    group = np.repeat(np.arange(settings.clients, dtype=np.int32), sizes)
    return Dataset(
        train={**{key: value[order] for key, value in train.items()}, "group": group},
        test={**test, "group": np.full(len(test["y"]), -1, np.int32)},
        facts={**facts, "sizes": sizes},
    )
