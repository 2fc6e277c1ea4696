"""Share of test records whose outcome is predicted right."""

from collections.abc import Callable

import jax

from dpinfer.models.base import Model
from dpinfer.posterior.predictive import predictive_mean
from dpinfer.types import Key, Records, Tree


def metric(key: Key, model: Model, sample: Callable[[Key], Tree], test: Records) -> jax.Array:
    """Accuracy of the outcome that is more probable under the posterior predictive; `y` is in {0, 1}."""
    return ((predictive_mean(key, model, sample, test) >= 0.5) == (test["y"] == 1)).mean()
