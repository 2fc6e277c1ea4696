"""Cases of partitioned inference: messages about records and about clients, and clips that adapt."""

from typing import Any, Literal

import numpy as np

from dpinfer import experiment
from dpinfer.audit.bound import Array
from dpinfer.audit.case import Case, by_steps
from dpinfer.audit.worst import CLIP, DELTA, FAR, LEARNING_RATE, MODEL, pulling, shards
from dpinfer.settings.accounting import Claimed
from dpinfer.settings.pvi import PviClients, PviRecords

CLIENTS, SHARD = 4, 4
# The thesis' accountant.
MOMENTS: dict[str, Any] = {
    "accountant": "moments",
    "claimed": Claimed(adjacency="add-remove", options={"max_lambda": 32, "direction": "both"}),
}
COMMON: dict[str, Any] = {
    "model": MODEL, "clip": CLIP, "delta": DELTA, "optimiser": "sgd", "learning_rate": LEARNING_RATE,
}  # fmt: skip
ALONE: dict[str, Any] = {
    "data": shards(1, 2 * SHARD),
    "expected_batch": 2 * SHARD,
    "local_steps": 1,
    "num_steps": 1,
}


def of_records() -> Case:
    """Messages of a client that protects its records: two rounds, each of two steps on Poisson batches."""
    settings = PviRecords(
        **COMMON, **MOMENTS, data=shards(2, 2 * SHARD), expected_batch=SHARD, local_steps=2, num_steps=2,
        noise_multiplier=1.0,
    )  # fmt: skip
    nobody = (0.0,) * (4 * SHARD - 1)
    algorithm = experiment.build(settings, 4 * SHARD, settings.noise_multiplier)

    def score(factors: Array) -> Array:
        return _means(factors)[:, -1]

    return Case(
        settings,
        "a record with a gradient far beyond the clip, and none",
        (pulling(FAR, *nobody), pulling(0.0, *nobody)),
        by_steps(algorithm, settings.num_steps, lambda state: state.factors[0], score),
    )


def of_clients(noise_at: Literal["client", "shared", "server"]) -> Case:
    """Messages of clients that protect all they have, or the server's sum of them."""
    settings = PviClients(
        model=MODEL, clip=CLIP, delta=DELTA, **MOMENTS, data=shards(CLIENTS, SHARD), num_steps=1,
        noise_multiplier=1.0, noise_at=noise_at,
    )  # fmt: skip
    nobody = (0.0,) * (SHARD * (CLIENTS - 1))
    algorithm = experiment.build(settings, SHARD * CLIENTS, settings.noise_multiplier)

    def see(state: Any) -> Any:
        return (state.posterior - state.prior if noise_at == "server" else state.factors[0])[0, 0]

    return Case(
        settings,
        "a client whose change is far beyond the clip, and one that has nothing to say",
        (pulling(*(FAR,) * SHARD, *nobody), pulling(*(0.0,) * SHARD, *nobody)),
        by_steps(algorithm, 1, see, lambda seen: seen[:, 0]),
    )


def quantile() -> Case:
    """A clip that follows a quantile by noisy counts: the sum and the next clip are seen together."""
    # The noise on the sum is 2 clips, that on the count 1.
    settings = PviRecords(
        **COMMON, **ALONE, noise_multiplier=2.0, clipping="quantile", count_noise=1 / (2 * SHARD),
        adjacency="replace-one",
    )  # fmt: skip
    nobody = (0.0,) * (2 * SHARD - 1)
    algorithm = experiment.build(settings, 2 * SHARD, settings.noise_multiplier)

    def score(seen: tuple[Array, Array]) -> Array:
        factors, clips = seen
        pull = _means(factors)[:, 0] * settings.expected_batch / (settings.learning_rate * settings.clip)
        share = settings.quantile - np.log(clips[:, 0] / settings.clip) / settings.clip_rate
        # Each over its variance, in the direction in which the record moves both.
        return 2 * pull / 2.0**2 - share * settings.expected_batch

    return Case(
        settings,
        "a record beyond the clip, and one at the clip that pulls the other way",
        (pulling(FAR, *nobody), pulling(-0.999 * CLIP, *nobody)),
        by_steps(algorithm, 1, lambda state: (state.factors[0], state.clips[0]), score),
    )


def percentile() -> Case:
    """A clip at the median of the batch's own norms, as in the thesis."""
    settings = PviRecords(
        **COMMON, **MOMENTS, **ALONE, noise_multiplier=2.0, clipping="percentile", adjacency="replace-one"
    )
    half = (10 * CLIP,) * (SHARD - 1) + (0.0,) * SHARD
    algorithm = experiment.build(settings, 2 * SHARD, settings.noise_multiplier)
    return Case(
        settings,
        "a record that brings the median of the norms up, and none",
        (pulling(10 * CLIP, *half), pulling(0.0, *half)),
        by_steps(algorithm, 1, lambda state: state.factors[0], lambda factors: np.abs(_means(factors)[:, 0])),
    )


def _means(factors: Array) -> Array:
    """(trials, rounds) mean of the weight that a client's factor and the prior, N(0, 1), make up."""
    return factors[:, :, 0, 0] / (1 + factors[:, :, 1, 0])
