"""The learning curve of a classifier: shares of records whose class is predicted right, along the run."""

from typing import Any

import jax

from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree

TRAIN_RECORDS = 10_000
"""So many of the training records are looked at."""


def curve(key: Key, model: Model, trace: Any, train: Records, test: Records) -> dict[str, jax.Array]:
    """Accuracies on test and training records at every recording."""
    seen = {"test_accuracy": test, "train_accuracy": {name: x[:TRAIN_RECORDS] for name, x in train.items()}}

    def accuracy(parameters: Tree, records: Records) -> jax.Array:
        return (model.predict(key, parameters, records).argmax(1) == records["y"]).mean()

    return jax.lax.map(
        lambda parameters: {name: accuracy(parameters, records) for name, records in seen.items()}, trace
    )
