"""Running mean and variance of a chain on two modes, and how far they are from the posterior's.

Two baselines: quadrature of the tempered posterior of the very records, and the long chain without privacy that
DP-MCMC (NeurIPS 2019) compares with, as read from the points of its scatter plot.
"""

from typing import Any

import jax
import jax.numpy as jnp

from dpinfer.inference import running
from dpinfer.models.base import Model
from dpinfer.posterior import quadrature
from dpinfer.types import Key, Records

PUBLISHED = {"mean": (0.432, 0.131), "variance": (0.199, 0.709)}


def reference(settings: Any, model: Model, train: Records) -> dict[str, Any]:
    """The moments by quadrature."""
    records = train["x"].shape[0]
    return quadrature.moments(model, train, float(settings.tempered_records or records))


def curve(
    key: Key, model: Model, trace: Any, train: Records, test: Records, reference: dict[str, Any]
) -> dict[str, jax.Array]:
    """At every recording `running_mean_1`, its distances `mean_error_1` and `mean_gap_1` to baselines, and so on.

    Before the burn-in is over they are not a number.
    """
    del key, model, train, test
    count = trace.moments.counted[:, None]
    mean = running.mean(trace.moments.first, count)
    found = {"mean": mean, "variance": running.mean(trace.moments.second, count) - mean**2}
    values: dict[str, jax.Array] = {}
    for name, running_value in found.items():
        for index in range(2):
            one = running_value[:, index]
            values[f"running_{name}_{index + 1}"] = one
            values[f"{name}_error_{index + 1}"] = jnp.abs(one - reference[name][index])
            values[f"{name}_gap_{index + 1}"] = jnp.abs(one - PUBLISHED[name][index])
    return values
