"""A client's free energy, which its local optimisation maximises (Eq. 4.15), as a sum over its records.

With q = N(mean, exp(log_variance)) and the cavity, the posterior without the client's own factor, one record's
share of the negative free energy is
    l_n = -E_q log p(y_n | x_n, z) - (H[q] + E_q log cavity) / N,
N being the client's records. Where the log-likelihood is quadratic the expectation has a closed form; for any
other model it is estimated by one draw of z for each record.
"""

from typing import Any

import jax
import jax.numpy as jnp

from dpinfer.inference.natural import Gaussian, expected
from dpinfer.models.base import Model
from dpinfer.tree import normal_like
from dpinfer.types import Key, Loss, Records

Guide = dict[str, jax.Array]


def guide_of(gaussian: Gaussian) -> Guide:
    """The coordinates in which gradients are followed: no step makes a variance negative."""
    return {"mean": gaussian.mean, "log_variance": jnp.log(gaussian.variance)}


def gaussian_of(guide: Guide) -> Gaussian:
    """Back to mean and variance."""
    return Gaussian(guide["mean"], jnp.exp(guide["log_variance"]))


def units(key: Key, model: Model, shape: tuple[int, ...]) -> Any:
    """Standard normal draws for the likelihood of records, where it has no closed form."""
    return () if model.quadratic is not None else normal_like(key, jax.ShapeDtypeStruct(shape, jnp.float32))


def loss_of(model: Model, cavity: jax.Array, num_records: jax.Array) -> Loss:
    """`(guide, (record, unit)) -> l_n`."""

    def likelihood(mean: jax.Array, variance: jax.Array, record: Records, unit: Any) -> jax.Array:
        if model.quadratic is not None:
            return expected(model.quadratic(record), mean, variance)
        return model.log_likelihood(mean + jnp.sqrt(variance) * unit, record)

    def loss(guide: Guide, example: tuple[Records, Any]) -> jax.Array:
        record, unit = example
        mean, variance = gaussian_of(guide)
        entropy = guide["log_variance"].sum() / 2
        rest = cavity[0] @ mean - cavity[1] @ (variance + mean**2) / 2
        return -likelihood(mean, variance, record, unit) - (entropy + rest) / num_records

    return loss
