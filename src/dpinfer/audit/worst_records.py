"""Records that pull a weight as hard as clipping lets them: the worst neighbours of clipped sums.

They are of a linear regression on one input. Inputs are small and outcomes large, so that the gradient of a
record by the weight is its pull, wherever the weight has got to, and by anything else is next to nothing.
"""

import jax.numpy as jnp
import numpy as np

from dpinfer.audit.bound import Array
from dpinfer.models import linear
from dpinfer.types import Records

CLIP = 2.0
"""Not 1, so that a factor of the clip that is missing shows."""
DELTA = 1e-3
FAR = 1e6
"""A pull that is far beyond the clip."""
INPUT = 1e-3
MODEL = linear.build(noise_std=1.0)
LEARNING_RATE = 1e-3


def pulling(*pulls: float) -> Records:
    """Records whose gradients move the weight that far in a step of size 1; 0 is nobody."""
    y = np.asarray(pulls) / INPUT
    return {"x": jnp.asarray(np.where(y == 0, 0.0, INPUT)[:, None], jnp.float32), "y": jnp.asarray(y, jnp.float32)}


def sampled_ratio(releases: Array, shift: float, rate: float, noise: float) -> Array:
    """Log-likelihood ratio of releases that a record shifts when it is sampled, against those of nobody.

    Args:
        releases: (trials, steps) less what they are without that record.
        shift: What the record adds.
        rate: Probability that it is sampled.
        noise: Standard deviation.
    """
    ratio = (releases * shift - shift**2 / 2) / noise**2
    steps = ratio if rate == 1 else np.logaddexp(np.log1p(-rate), np.log(rate) + ratio)
    return np.asarray(steps.sum(axis=1))
