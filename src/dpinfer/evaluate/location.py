"""Where an approximate posterior is: the mean of its draws."""

from collections.abc import Callable

import jax

from dpinfer.models.base import Model
from dpinfer.posterior.predictive import DRAWS
from dpinfer.types import Key, Records, Tree


def metric(key: Key, model: Model, sample: Callable[[Key], Tree], test: Records) -> dict[str, jax.Array]:
    """`location_1`, `location_2`, ...: means over draws of all parameters, in the order of their leaves."""
    del model, test
    draws = jax.vmap(sample)(jax.random.split(key, DRAWS))
    flat = [leaf.reshape(DRAWS, -1).mean(axis=0) for leaf in jax.tree.leaves(draws)]
    values = [value for leaf in flat for value in leaf]
    return {f"location_{number}": value for number, value in enumerate(values, start=1)}
