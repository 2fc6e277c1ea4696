"""Data sets made from a seed or by counting: no file is asked for."""

import math

import numpy as np

from pipeline.datasets.base import Arrays, Dataset, Files, Loader
from pipeline.settings.data import BooleanLogistic, FiveClusters, HierarchicalData, LinearShards, TwoModesData

INPUTS, GROUPS, GROUP_FEATURES = 5, 3, 3
"""Of the hierarchical records."""
CLUSTER_MEANS = ((0.0, 0.0), (2.0, 2.0), (-2.0, -2.0), (-2.0, 2.0), (2.0, -2.0))
CLUSTER_VARIANCE = 0.5
MODE_MEANS = (0.0, 1.0)
MODE_VARIANCE = 2.0


def hierarchical(settings: HierarchicalData, files: Files) -> Dataset:
    """Logistic regression whose weights differ by group and depend linearly on the group's features.

    2N records are drawn from one truth; the first N are train, the last N test.

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


def five_clusters(settings: FiveClusters, files: Files) -> Dataset:
    """Five Gaussian clusters in the plane, drawn as in the code of Jälkö, Dikmen and Honkela (2017).

    Train and then test records come from (1/5) sum_k N(mean_k, 0.5 I).

    Arrays: `x` (n, 2) float64; `y` (n,) int32, the cluster. Facts: `means` (5, 2), `variance`.
    """
    del files
    # The legacy generator, and below full-size draws that a mask then thins out, give the published records.
    rng = np.random.RandomState(settings.seed)
    return Dataset(
        train=_draw_clusters(rng, settings.train_records),
        test=_draw_clusters(rng, settings.test_records),
        facts={"means": [list(mean) for mean in CLUSTER_MEANS], "variance": CLUSTER_VARIANCE},
    )


def two_modes(settings: TwoModesData, files: Files) -> Dataset:
    """Scalars from two overlapping Gaussians, drawn as in the code of Heikkilä et al. (2019).

    x ~ N(0, 2) or N(1, 2) (variances) with equal odds.

    Arrays: `x` (n,) float64. Facts: `means`, `variance`.
    """
    del files
    # The published records come from a legacy generator asked in turn for a uniform and a normal; the normal
    # is made by rejection, so the two streams cannot be drawn apart and a loop is the only exact way.
    rng = np.random.RandomState(settings.seed)
    turns = (rng.random_sample, rng.standard_normal)
    draws = np.fromiter((draw() for _ in range(settings.records) for draw in turns), dtype=np.float64)
    uniform, normal = draws.reshape(-1, 2).T
    means = np.where(uniform > 0.5, *MODE_MEANS)
    return Dataset(
        train={"x": means + math.sqrt(MODE_VARIANCE) * normal},
        test={},
        facts={"means": list(MODE_MEANS), "variance": MODE_VARIANCE},
    )


def linear_shards(settings: LinearShards, files: Files) -> Dataset:
    """Linear regression records dealt out to clients, alike or unlike in size and inputs.

    y = theta . (1, x_1) + N(0, noise_std^2) with x_1 ~ N(shift of the client, 1).

    Arrays: `x` (n, 2) float64 with a first column of ones; `y` (n,) float64; `group` (n,) int32, the client,
    in ascending order. Facts: `sizes` (records by client), `theta`, `noise_std`.
    """
    del files
    rng = np.random.default_rng(settings.seed)
    sizes = settings.records_per_client
    sizes = sizes if isinstance(sizes, tuple) else (sizes,) * settings.clients
    shifts = settings.input_shift or (0.0,) * settings.clients
    count = sum(sizes)
    x = np.column_stack([np.ones(count), rng.standard_normal(count) + np.repeat(shifts, sizes)])
    y = x @ np.array(settings.theta) + settings.noise_std * rng.standard_normal(count)
    group = np.repeat(np.arange(settings.clients, dtype=np.int32), sizes)
    return Dataset(
        train={"x": x, "y": y, "group": group},
        test={},
        facts={"sizes": list(sizes), "theta": list(settings.theta), "noise_std": settings.noise_std},
    )


def boolean_logistic(settings: BooleanLogistic, files: Files) -> Dataset:
    """The majority of three bits: all boolean 3-vectors, labelled 1 if at least two entries are 1.

    Arrays: `x` (8 copies, 3) float64 in {0, 1}, copies of a vector adjacent; `y` (8 copies,) int32. The test
    part holds each vector once.
    """
    del files
    x = np.array(list(np.ndindex(2, 2, 2)), dtype=np.float64)
    once: Arrays = {"x": x, "y": (x.sum(axis=1) >= 2).astype(np.int32)}
    train = {key: np.repeat(value, settings.copies, axis=0) for key, value in once.items()}
    return Dataset(train, once, facts={})


def _draw_clusters(rng: np.random.RandomState, count: int) -> Arrays:
    weights = np.full(len(CLUSTER_MEANS), 1 / len(CLUSTER_MEANS))
    membership = rng.multinomial(1, weights, size=count)
    x = np.zeros((count, 2))
    for mask, mean in zip(membership.T, CLUSTER_MEANS, strict=True):
        x += mask[:, None] * rng.multivariate_normal(mean, CLUSTER_VARIANCE * np.eye(2), size=count)
    return {"x": x, "y": membership.argmax(axis=1).astype(np.int32)}


LOADERS: dict[str, Loader] = {
    "hierarchical": hierarchical,
    "five_clusters": five_clusters,
    "two_modes": two_modes,
    "linear_shards": linear_shards,
    "boolean_logistic": boolean_logistic,
}
