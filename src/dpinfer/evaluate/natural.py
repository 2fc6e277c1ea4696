"""The natural parameters of an approximate posterior along a run."""

import jax

from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree


def curve(key: Key, model: Model, trace: Tree, train: Records, test: Records) -> dict[str, jax.Array]:
    """Precision times mean, and precision, of every coordinate."""
    del key, model, train, test
    posterior = trace["posterior"]
    return {
        f"{name}_{coordinate}": posterior[:, row, coordinate]
        for row, name in enumerate(("natural_mean", "precision"))
        for coordinate in range(posterior.shape[-1])
    }
