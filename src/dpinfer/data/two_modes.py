"""Scalars from two overlapping Gaussians, drawn as in the code of Heikkilä et al. (2019)."""

import math

import numpy as np

from dpinfer.data.base import Dataset, Files
from dpinfer.settings.data import TwoModes

MEANS = (0.0, 1.0)
VARIANCE = 2.0


def load(settings: TwoModes, files: Files) -> Dataset:
    """Draw x ~ N(0, 2) or N(1, 2) (variances) with equal odds.

    Arrays: `x` (n,) float64. Facts: `means`, `variance`.
    """
    del files
    # The published records come from a legacy generator asked in turn for a uniform and a normal; the normal
    # is made by rejection, so the two streams cannot be drawn apart and a loop is the only exact way.
    rng = np.random.RandomState(settings.seed)
    turns = (rng.random_sample, rng.standard_normal)
    draws = np.fromiter((draw() for _ in range(settings.records) for draw in turns), dtype=np.float64)
    uniform, normal = draws.reshape(-1, 2).T
    means = np.where(uniform > 0.5, *MEANS)
    return Dataset(
        train={"x": means + math.sqrt(VARIANCE) * normal},
        test={},
        facts={"means": list(MEANS), "variance": VARIANCE},
    )
