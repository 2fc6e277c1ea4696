"""Linear regression records dealt out to clients, alike or unlike in size and inputs."""

import numpy as np

from dpinfer.data.base import Dataset, Files
from dpinfer.settings.data import LinearShards


def load(settings: LinearShards, files: Files) -> Dataset:
    """Draw y = theta . (1, x_1) + N(0, noise_std^2) with x_1 ~ N(shift of the client, 1).

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
