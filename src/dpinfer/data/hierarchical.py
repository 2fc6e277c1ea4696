"""Logistic regression whose weights differ by group and depend linearly on the group's features."""

import numpy as np

from dpinfer.data.base import Arrays, Dataset, Files
from dpinfer.settings.data import Hierarchical

INPUTS, GROUPS, GROUP_FEATURES = 5, 3, 3


def load(settings: Hierarchical, files: Files) -> Dataset:
    """Draw 2N records from one truth; the first N are train, the last N test.

    Truth: M_dk ~ N(0, prior_scale^2), g_l ~ N(0, I_3), w_l ~ N(M g_l, I_5); then for each record
    x ~ N(0, I_5), a group l uniform in {0, 1, 2} and y ~ Bernoulli(sigmoid(w_l . x)).
    The truth is drawn first, so it is the same for every N.

    Arrays: `x` (N, 5) float64; `y` (N,) int32 in {0, 1}; `group` (N,) int32; `group_features` (N, 3) float64,
    which is g of the record's group. Facts: `matrix` M (5, 3), `group_features` g (3, 3), `weights` w (3, 5).
    """
    del files
    rng = np.random.default_rng(settings.seed)
    matrix = settings.prior_scale * rng.standard_normal((INPUTS, GROUP_FEATURES))
    features = rng.standard_normal((GROUPS, GROUP_FEATURES))
    weights = features @ matrix.T + rng.standard_normal((GROUPS, INPUTS))

    count = 2 * settings.records
    x = rng.standard_normal((count, INPUTS))
    group = rng.integers(GROUPS, size=count, dtype=np.int32)
    probability = 1 / (1 + np.exp(-np.sum(weights[group] * x, axis=1)))
    y = (rng.random(count) < probability).astype(np.int32)
    records: Arrays = {"x": x, "y": y, "group": group, "group_features": features[group]}
    return Dataset(
        train={key: value[: settings.records] for key, value in records.items()},
        test={key: value[settings.records :] for key, value in records.items()},
        facts={
            "matrix": matrix.tolist(),
            "group_features": features.tolist(),
            "weights": weights.tolist(),
        },
    )
