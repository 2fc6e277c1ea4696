"""Five Gaussian clusters in the plane, drawn as in the code of Jälkö, Dikmen and Honkela (2017)."""

import numpy as np

from dpinfer.data.base import Arrays, Dataset, Files
from dpinfer.settings.data import FiveClusters

MEANS = ((0.0, 0.0), (2.0, 2.0), (-2.0, -2.0), (-2.0, 2.0), (2.0, -2.0))
VARIANCE = 0.5


def load(settings: FiveClusters, files: Files) -> Dataset:
    """Draw train and then test records from (1/5) sum_k N(mean_k, 0.5 I).

    Arrays: `x` (n, 2) float64; `y` (n,) int32, the cluster. Facts: `means` (5, 2), `variance`.
    """
    del files
    # The legacy generator, and below full-size draws that a mask then thins out, give the published records.
    rng = np.random.RandomState(settings.seed)
    return Dataset(
        train=_draw(rng, settings.train_records),
        test=_draw(rng, settings.test_records),
        facts={"means": [list(mean) for mean in MEANS], "variance": VARIANCE},
    )


def _draw(rng: np.random.RandomState, count: int) -> Arrays:
    weights = np.full(len(MEANS), 1 / len(MEANS))
    membership = rng.multinomial(1, weights, size=count)
    x = np.zeros((count, 2))
    for mask, mean in zip(membership.T, MEANS, strict=True):
        x += mask[:, None] * rng.multivariate_normal(mean, VARIANCE * np.eye(2), size=count)
    return {"x": x, "y": membership.argmax(axis=1).astype(np.int32)}
