"""Area under the receiver operating characteristic: how well predictions order the outcomes."""

from collections.abc import Callable

import jax
from jax.scipy.stats import rankdata

from dpinfer.models.base import Model
from dpinfer.posterior.predictive import predictive_mean
from dpinfer.types import Key, Records, Tree


def metric(key: Key, model: Model, sample: Callable[[Key], Tree], test: Records) -> jax.Array:
    """Chance that a record with `y` = 1 has a higher predictive mean than one with `y` = 0 (ties count half)."""
    return area(predictive_mean(key, model, sample, test), test["y"] == 1)


def area(score: jax.Array, positive: jax.Array) -> jax.Array:
    """The area by the rank-sum statistic of Mann and Whitney."""
    ones = positive.sum()
    ranks = (rankdata(score) * positive).sum() - ones * (ones + 1) / 2
    return ranks / (ones * (positive.size - ones))
