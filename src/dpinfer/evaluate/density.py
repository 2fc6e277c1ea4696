"""The posterior predictive density of records in the plane, on a grid for contours."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.models.base import Model
from dpinfer.posterior.predictive import DRAWS
from dpinfer.types import Key, Records, Tree

EDGE, POINTS = 6.0, 49


def places(model: Model, sample: Callable[[Key], Tree]) -> dict[str, list[Any]]:
    """The points of the grid."""
    del model, sample
    x, y = np.meshgrid(*(np.linspace(-EDGE, EDGE, POINTS),) * 2)
    return {"x": x.ravel().tolist(), "y": y.ravel().tolist()}


def spread(key: Key, model: Model, sample: Callable[[Key], Tree], test: Records) -> jax.Array:
    """Mean over `DRAWS` draws of the density at each point; one draw is in memory at a time."""
    del test
    grid = places(model, sample)
    points = jnp.stack([jnp.asarray(grid["x"]), jnp.asarray(grid["y"])], axis=1)

    def add(total: jax.Array, own: Key) -> tuple[jax.Array, None]:
        parameters = sample(own)
        each = jax.vmap(lambda point: model.log_likelihood(parameters, {"x": point}))(points)
        return total + jnp.exp(each), None

    return jax.lax.scan(add, jnp.zeros(len(points)), jax.random.split(key, DRAWS))[0] / DRAWS
