"""What the posterior says of every component of a mixture: weight, centre and variance."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model
from dpinfer.posterior.predictive import DRAWS
from dpinfer.types import Key, Records, Tree


def places(model: Model, sample: Callable[[Key], Tree]) -> dict[str, list[Any]]:
    """Every quantity of every component."""
    shapes = jax.eval_shape(lambda key: model.describe(sample(key)), jax.random.key(0))
    pairs = [(name, k) for name, shape in shapes.items() for k in range(shape.shape[0])]
    return {"quantity": [name for name, _ in pairs], "component": [k for _, k in pairs]}


def spread(key: Key, model: Model, sample: Callable[[Key], Tree], test: Records) -> jax.Array:
    """Posterior medians; the mean of a variance whose logarithm is uncertain would be ruled by few draws."""
    del test
    described = jax.lax.map(lambda own: model.describe(sample(own)), jax.random.split(key, DRAWS))
    return jnp.concatenate([jnp.median(values, axis=0) for values in described.values()])
