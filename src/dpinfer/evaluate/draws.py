"""The recorded draws of a chain on two modes after its burn-in, and what they say of the modes."""

from typing import Any

import jax
import jax.numpy as jnp

from dpinfer.models.base import Model
from dpinfer.types import Key, Records


def whole(key: Key, model: Model, trace: Any, train: Records, test: Records) -> dict[str, jax.Array]:
    """Both parameters at every recording, their means, variances and correlation, and the mass at `theta_2` > 0.

    Before the burn-in is over the parameters are not a number.
    """
    del key, model, train, test
    counted = trace.moments.counted > 0
    theta = jnp.where(counted[:, None], trace.parameters, jnp.nan)
    mean = jnp.nanmean(theta, axis=0)
    centred = theta - mean
    product, squares = jnp.nanmean(centred[:, 0] * centred[:, 1]), jnp.nanmean(centred**2, axis=0)
    moments = {f"mean_{k + 1}": mean[k] for k in range(2)} | {f"variance_{k + 1}": squares[k] for k in range(2)}
    return {
        "theta_1": theta[:, 0],
        "theta_2": theta[:, 1],
        **moments,
        "correlation": product / jnp.sqrt(squares.prod()),
        "positive": (counted & (theta[:, 1] > 0)).sum() / counted.sum(),
    }
