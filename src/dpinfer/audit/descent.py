"""Cases of steps on sampled batches: DP-SGD, DP-VI, and PyVacy's clipping of a mean."""

import dataclasses
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer import experiment
from dpinfer.audit.bound import Array
from dpinfer.audit.case import Case, Scores, by_steps
from dpinfer.audit.worst import CLIP, DELTA, FAR, LEARNING_RATE, MODEL, pulling, sampled_ratio, shards
from dpinfer.inference.base import Algorithm
from dpinfer.settings.accounting import Claimed
from dpinfer.settings.cell import Dpsgd, Dpvi, Optimised

RECORDS, BATCH = 16, 4
NARROW = -20.0
"""Log scale of a guide whose draws are at its mean: then all of a clipped gradient is about the mean."""
POISSON = "a record with a gradient far beyond the clip, and none"
SUBSET = "a record that pulls against all others, and one that pulls along"
COMMON: dict[str, Any] = {
    "data": shards(1, RECORDS), "model": MODEL, "clip": CLIP, "expected_batch": BATCH, "noise_multiplier": 1.0,
    "delta": DELTA, "optimiser": "sgd", "learning_rate": LEARNING_RATE,
}  # fmt: skip
# d3p draws subsets, and accounts for them as if each record had a coin of its own; here for the same neighbours.
AS_POISSON: dict[str, Any] = {
    "sampler": "subset",
    "adjacency": "replace-one",
    "claimed": Claimed(sampler="poisson"),
}


def dpsgd(num_steps: int, sampler: Literal["poisson", "subset"]) -> Case:
    """Steps of DP-SGD."""
    others: dict[str, Any] = AS_POISSON if sampler == "subset" else {}
    return _case(Dpsgd(**COMMON, **others, num_steps=num_steps))


def dpvi(num_steps: int, sampler: Literal["poisson", "subset"]) -> Case:
    """Steps of DP-VI."""
    others: dict[str, Any] = AS_POISSON if sampler == "subset" else {}
    return _case(Dpvi(**COMMON, **others, num_steps=num_steps))


def of_mean(clipping: Literal["mean_printed", "mean_code"]) -> Case:
    """A step of PyVacy, which clips the mean of a batch."""
    settings = dataclasses.replace(
        Dpsgd(**COMMON, num_steps=1), clipping=clipping, noise_multiplier=1.1, accountant="rdp",
        claimed=Claimed(clipped=True, options={"orders": "ternary", "conversion": "classic"}),
    )  # fmt: skip
    others = (10 * CLIP,) * (RECORDS - 1)
    algorithm = experiment.build(settings, RECORDS, settings.noise_multiplier)
    return Case(
        settings,
        "a record whose gradient turns that of all others around, and none",
        (pulling(*others, -FAR), pulling(*others, 0.0)),
        by_steps(algorithm, 1, lambda state: state.parameters[0], lambda weights: weights[:, 0]),
    )


def _case(settings: Dpsgd | Dpvi) -> Case:
    algorithm = experiment.build(settings, RECORDS, settings.noise_multiplier)
    scores = watched(algorithm, settings)
    if settings.sampler == "poisson":
        nobody = (0.0,) * (RECORDS - 1)
        return Case(settings, POISSON, (pulling(*nobody, FAR), pulling(*nobody, 0.0)), scores)
    others = (-FAR,) * (RECORDS - 1)
    return Case(settings, SUBSET, (pulling(*others, FAR), pulling(*others, -FAR)), scores)


def watched(algorithm: Algorithm, settings: Dpsgd | Dpvi) -> Scores:
    """The ratio of likelihoods of all releases of a run, which is the sharpest score there is."""
    rate = settings.expected_batch / RECORDS
    assert settings.noise_multiplier is not None
    noise = settings.noise_multiplier
    # The others pull down in every batch of fixed size; the one record adds a clip, or turns one around.
    start, shift = (0.0, 1.0) if settings.sampler == "poisson" else (-settings.expected_batch, 2.0)

    def score(weights: Array) -> Array:
        return sampled_ratio(releases(weights, settings) - start, shift, rate, noise)

    if isinstance(settings, Dpvi):
        return by_steps(_narrow(algorithm), settings.num_steps, lambda state: state.guide["loc"][0], score)
    return by_steps(algorithm, settings.num_steps, lambda state: state.parameters[0], score)


def releases(weights: Array, settings: Optimised) -> Array:
    """(trials, steps) released sums, in clips, that have moved a weight from 0."""
    moves = np.diff(weights, axis=1, prepend=0.0)
    return moves * settings.expected_batch / (settings.learning_rate * settings.clip)


def _narrow(algorithm: Algorithm) -> Algorithm:
    """The same from a guide that is narrow: a step must be private wherever it starts."""

    def init(key: jax.Array, records: Any) -> Any:
        state = algorithm.init(key, records)
        narrow = jax.tree.map(lambda leaf: jnp.full_like(leaf, NARROW), state.guide["log_scale"])
        return state._replace(guide={**state.guide, "log_scale": narrow})

    return algorithm._replace(init=init)
