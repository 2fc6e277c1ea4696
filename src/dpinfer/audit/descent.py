"""Cases of steps on sampled batches: DP-SGD, DP-VI, and PyVacy's clipping of a mean."""

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.events import Adjacency
from dpinfer.accounting.sound import pld, rdp
from dpinfer.audit import case
from dpinfer.audit.bound import Array
from dpinfer.audit.case import (
    CLIP,
    FAR,
    LEARNING_RATE,
    MODEL,
    Case,
    Scores,
    by_steps,
    claimed,
    pulling,
    sampled_ratio,
)
from dpinfer.inference import dpsgd as sgd
from dpinfer.inference import dpvi as vi
from dpinfer.inference.base import Algorithm
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.unsafe.mechanisms import Form, aggregate

Sampler = Literal["poisson", "subset"]
RECORDS, BATCH = 16, 4
NOISE_MULTIPLIER = 1.0
NARROW = -20.0
"""Log scale of a guide whose draws are at its mean: then all of a clipped gradient is about the mean."""
POISSON = "a record with a gradient far beyond the clip, and none"
SUBSET = "a record that pulls against all others, and one that pulls along"


def dpsgd(num_steps: int, sampler: Sampler) -> Case:
    """Steps of DP-SGD."""

    def build(sampler: Sampler) -> Algorithm:
        return steps_of_sgd(num_steps, sampler=sampler)

    scores = watched(build(sampler), num_steps, lambda state: state.parameters[0], sampler)
    return _of_batches(build, num_steps, sampler, scores)


def dpvi(num_steps: int, sampler: Sampler) -> Case:
    """Steps of DP-VI."""

    def build(sampler: Sampler) -> Algorithm:
        return vi.build(
            MODEL, gaussian(CLIP, NOISE_MULTIPLIER), RECORDS, expected_batch=BATCH, num_steps=num_steps,
            sampler=sampler, optimiser="sgd", learning_rate=LEARNING_RATE,
        )  # fmt: skip

    scores = watched(_narrow(build(sampler)), num_steps, lambda state: state.guide["loc"][0], sampler)
    return _of_batches(build, num_steps, sampler, scores)


def of_mean(form: Form) -> Case:
    """A step of PyVacy, which clips the mean of a batch."""
    noise, others = 1.1, (10 * CLIP,) * (RECORDS - 1)
    algorithm = steps_of_sgd(1, aggregate(CLIP, noise, BATCH, form))
    # The paper takes each gradient to be clipped.
    seen_as = steps_of_sgd(1, gaussian(CLIP, noise)).event(1)
    return case.of_steps(
        algorithm.event(1),
        "add-remove",
        claimed(rdp, seen_as, "add-remove", orders="ternary", conversion="classic"),
        "a record whose gradient turns that of all others around, and none",
        (pulling(*others, -FAR), pulling(*others, 0.0)),
        by_steps(algorithm, 1, lambda state: state.parameters[0], lambda weights: weights[:, 0]),
    )


def steps_of_sgd(
    num_steps: int, mechanism: Mechanism | None = None, *, sampler: Sampler = "poisson", batch: int = BATCH
) -> Algorithm:
    """DP-SGD whose steps are proportional to what is released."""
    return sgd.build(
        MODEL, mechanism or gaussian(CLIP, NOISE_MULTIPLIER), RECORDS, expected_batch=batch, num_steps=num_steps,
        sampler=sampler, optimiser="sgd", learning_rate=LEARNING_RATE,
    )  # fmt: skip


def _of_batches(build: Callable[[Sampler], Algorithm], num_steps: int, sampler: Sampler, scores: Scores) -> Case:
    """Steps on the worst neighbours of their batches."""
    # d3p draws subsets, and accounts for them as if each record had its own coin; here for the same neighbours.
    event, seen_as = build(sampler).event(num_steps), build("poisson").event(num_steps)
    adjacency: Adjacency
    if sampler == "poisson":
        nobody = (0.0,) * (RECORDS - 1)
        adjacency, neighbours, pair = "add-remove", POISSON, (pulling(*nobody, FAR), pulling(*nobody, 0.0))
    else:
        others = (-FAR,) * (RECORDS - 1)
        adjacency, neighbours, pair = "replace-one", SUBSET, (pulling(*others, FAR), pulling(*others, -FAR))
    return case.of_steps(event, adjacency, claimed(pld, seen_as, adjacency), neighbours, pair, scores)


def watched(
    algorithm: Algorithm, num_steps: int, see: Callable[[Any], Any], sampler: Sampler, batch: int = BATCH
) -> Scores:
    """The ratio of likelihoods of all releases of a run, which is the sharpest score there is."""
    # The others pull down in every batch of fixed size; the one record adds a clip, or turns one around.
    start, shift = (0.0, 1.0) if sampler == "poisson" else (-batch, 2.0)

    def score(weights: Array) -> Array:
        return sampled_ratio(releases(weights, batch) - start, shift, batch / RECORDS, NOISE_MULTIPLIER)

    return by_steps(algorithm, num_steps, see, score)


def releases(weights: Array, batch: int = BATCH) -> Array:
    """(trials, steps) released sums, in clips, that have moved a weight from 0."""
    moves = np.diff(weights, axis=1, prepend=0.0)
    return moves * batch / (LEARNING_RATE * CLIP)


def _narrow(algorithm: Algorithm) -> Algorithm:
    """The same from a guide that is narrow: a step must be private wherever it starts."""

    def init(key: jax.Array, records: Any) -> Any:
        state = algorithm.init(key, records)
        narrow = jax.tree.map(lambda leaf: jnp.full_like(leaf, NARROW), state.guide["log_scale"])
        return state._replace(guide={**state.guide, "log_scale": narrow})

    return algorithm._replace(init=init)
