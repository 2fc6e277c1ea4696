"""Mixtures in the plane: the components, and the density on a grid for contours."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.models.base import Model
from dpinfer.types import Key
from pipeline.metrics.base import DRAWS, Fitted, Metric, Sample

EDGE, POINTS = 6.0, 49
"""The grid goes from -`EDGE` to `EDGE` in both directions, with so many points in each."""


def components(fit: Fitted) -> jax.Array:
    """Posterior medians of weight, centre and variance of every component.

    The mean of a variance whose logarithm is uncertain would be ruled by few draws.
    """
    described = jax.lax.map(lambda own: fit.model.describe(fit.sample(own)), jax.random.split(fit.key, DRAWS))
    return jnp.concatenate([jnp.median(values, axis=0) for values in described.values()])


def component_names(model: Model, sample: Sample) -> dict[str, list[Any]]:
    """Every quantity of every component."""
    shapes = jax.eval_shape(lambda key: model.describe(sample(key)), jax.random.key(0))
    pairs = [(name, k) for name, shape in shapes.items() for k in range(shape.shape[0])]
    return {"quantity": [name for name, _ in pairs], "component": [k for _, k in pairs]}


def density(fit: Fitted) -> jax.Array:
    """The posterior predictive density at each point: the mean over `DRAWS` draws, one in memory at a time."""
    at = grid()
    points = jnp.stack([jnp.asarray(at["x"]), jnp.asarray(at["y"])], axis=1)

    def add(total: jax.Array, own: Key) -> tuple[jax.Array, None]:
        parameters = fit.sample(own)
        each = jax.vmap(lambda point: fit.model.log_likelihood(parameters, {"x": point}))(points)
        return total + jnp.exp(each), None

    return jax.lax.scan(add, jnp.zeros(len(points)), jax.random.split(fit.key, DRAWS))[0] / DRAWS


def grid() -> dict[str, list[Any]]:
    """The points of the grid."""
    x, y = np.meshgrid(*(np.linspace(-EDGE, EDGE, POINTS),) * 2)
    return {"x": x.ravel().tolist(), "y": y.ravel().tolist()}


METRICS = {
    "components": Metric("end", components, places=component_names),
    "density": Metric("end", density, places=lambda *_: grid()),
}
