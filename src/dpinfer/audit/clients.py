"""Cases of partitioned inference: messages about records and about clients, and clips that adapt."""

from typing import Any

import numpy as np

from dpinfer.accounting.events import Event
from dpinfer.accounting.ledger import StatedAccount
from dpinfer.accounting.sound import moments, pld
from dpinfer.audit.bound import Array
from dpinfer.audit.case import CLIP, FAR, LEARNING_RATE, MODEL, Case, by_steps, claimed, of_steps, pulling
from dpinfer.inference import pvi_clients, pvi_records
from dpinfer.inference.base import Algorithm
from dpinfer.inference.names import ClipRule, NoiseAt
from dpinfer.mechanism.gaussian import gaussian

CLIENTS, SHARD = 4, 4
ALONE = 2 * SHARD
"""Records of a client that is alone."""
QUANTILE, CLIP_RATE = 0.5, 0.2


def of_records() -> Case:
    """Messages of a client that protects its records: two rounds, each of two steps on Poisson batches."""
    algorithm = pvi_records.build(
        MODEL, gaussian(CLIP, 1.0), 4 * SHARD, sizes=(2 * SHARD,) * 2, expected_batch=SHARD, num_steps=2,
        local_steps=2, clip=CLIP, optimiser="sgd", learning_rate=LEARNING_RATE,
    )  # fmt: skip
    event, nobody = algorithm.event(2), (0.0,) * (4 * SHARD - 1)

    def score(factors: Array) -> Array:
        return _means(factors)[:, -1]

    return of_steps(
        event,
        "add-remove",
        _by_moments(event),
        "a record with a gradient far beyond the clip, and none",
        (pulling(FAR, *nobody), pulling(0.0, *nobody)),
        by_steps(algorithm, 2, lambda state: state.factors[0], score),
    )


def of_clients(noise_at: NoiseAt) -> Case:
    """Messages of clients that protect all they have, or the server's sum of them."""
    algorithm = _clients(noise_at)
    # Algorithm 3 is accounted as if an adversary saw the sum of all messages alone.
    seen_as = _clients("client" if noise_at == "shared" else noise_at)
    nobody = (0.0,) * (SHARD * (CLIENTS - 1))

    def see(state: Any) -> Any:
        return (state.posterior - state.prior if noise_at == "server" else state.factors[0])[0, 0]

    return of_steps(
        algorithm.event(1),
        "add-remove",
        _by_moments(seen_as.event(1)),
        "a client whose change is far beyond the clip, and one that has nothing to say",
        (pulling(*(FAR,) * SHARD, *nobody), pulling(*(0.0,) * SHARD, *nobody)),
        by_steps(algorithm, 1, see, lambda seen: seen[:, 0]),
    )


def quantile() -> Case:
    """A clip that follows a quantile by noisy counts: the sum and the next clip are seen together."""
    # The noise on the sum is 2 clips, that on the count 1.
    algorithm = _alone("quantile", count_noise=1 / ALONE)
    event, nobody = algorithm.event(1), (0.0,) * (ALONE - 1)

    def score(seen: tuple[Array, Array]) -> Array:
        factors, clips = seen
        pull = _means(factors)[:, 0] * ALONE / (LEARNING_RATE * CLIP)
        share = QUANTILE - np.log(clips[:, 0] / CLIP) / CLIP_RATE
        # Each over its variance, in the direction in which the record moves both.
        return 2 * pull / 2.0**2 - share * ALONE

    return of_steps(
        event,
        "replace-one",
        claimed(pld, event, "replace-one"),
        "a record beyond the clip, and one at the clip that pulls the other way",
        (pulling(FAR, *nobody), pulling(-0.999 * CLIP, *nobody)),
        by_steps(algorithm, 1, lambda state: (state.factors[0], state.clips[0]), score),
    )


def percentile() -> Case:
    """A clip at the median of the batch's own norms, as in the thesis."""
    algorithm = _alone("percentile")
    half = (10 * CLIP,) * (SHARD - 1) + (0.0,) * SHARD
    return of_steps(
        algorithm.event(1),
        "replace-one",
        # The thesis' ledger sees the ratio of noise to clip alone, whichever way the clip was chosen.
        _by_moments(_alone("fixed").event(1)),
        "a record that brings the median of the norms up, and none",
        (pulling(10 * CLIP, *half), pulling(0.0, *half)),
        by_steps(algorithm, 1, lambda state: state.factors[0], lambda factors: np.abs(_means(factors)[:, 0])),
    )


def _clients(noise_at: NoiseAt) -> Algorithm:
    """A round of clients with a shard each."""
    return pvi_clients.build(
        MODEL, gaussian(CLIP, 1.0), SHARD * CLIENTS, sizes=(SHARD,) * CLIENTS, num_steps=1, clip=CLIP,
        noise_at=noise_at,
    )  # fmt: skip


def _alone(clipping: ClipRule, count_noise: float = 0.05) -> Algorithm:
    """A step of a client that is alone, on all its records."""
    return pvi_records.build(
        MODEL, gaussian(CLIP, 2.0), ALONE, sizes=(ALONE,), expected_batch=ALONE, num_steps=1, local_steps=1,
        clip=CLIP, optimiser="sgd", learning_rate=LEARNING_RATE, clipping=clipping, quantile=QUANTILE,
        clip_rate=CLIP_RATE, count_noise=count_noise,
    )  # fmt: skip


def _by_moments(event: Event) -> StatedAccount:
    """By the thesis' accountant."""
    return claimed(moments, event, "add-remove", max_lambda=32, direction="both")


def _means(factors: Array) -> Array:
    """(trials, rounds) mean of the weight that a client's factor and the prior, N(0, 1), make up."""
    return factors[:, :, 0, 0] / (1 + factors[:, :, 1, 0])
