"""The Gaussian mechanism for each of several clients, whose clips and noise may differ and may adapt.

A clip that adapts must be chosen privately. Andrew et al. (arXiv:1905.03871v5) release, beside the sum, a noisy
count of the gradients within the clip, and move the clip towards a wanted quantile of their norms:
    share  = 1/2 + (sum_i (1[norm_i <= clip] - 1/2) + s_b z) / expected_batch,
    clip  <- clip exp(-clip_rate (share - quantile)).
Each record moves the count by at most 1/2, so with noise s clips on the sum the two are one Gaussian release with
noise multiplier (s^-2 + (2 s_b)^-2)^(-1/2): that is what is booked. The next clip depends on the noisy count
alone.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event, Gaussian, NonPrivate
from dpinfer.clipping.sums import clipped_sum
from dpinfer.mechanism.base import Mechanism
from dpinfer.tree import normal_like
from dpinfer.types import Key, Loss, Tree

PERCENTILE = NonPrivate(
    reason="the clip is a percentile of the batch's own gradient norms: a record moves everyone's clip, the scale "
    "of the noise tells it, and nothing is paid for it"
)
LEAST_CLIP = 1e-6
"""Keeps an adaptive clip positive."""


class ClientMechanism(NamedTuple):
    """Releases sums of gradients for clients, each by a clip of its own that it carries along.

    Attributes:
        clips: (clients,) the clip that each starts with.
        random: `(key, parameters, shape) -> noise` of as many releases; of parameters it uses the shapes alone.
        release: `(client, clip, noise, loss, parameters, examples, mask) -> (sum, next clip)`.
        event: `client -> event`, what one release on all of its records tells about them.
    """

    clips: jax.Array
    random: Callable[[Key, Tree, tuple[int, ...]], Any]
    release: Callable[[jax.Array, jax.Array, Any, Loss, Tree, Tree, jax.Array], tuple[Tree, jax.Array]]
    event: Callable[[int], Event]


class Adaptive(NamedTuple):
    """How a clip follows a quantile of the norms; the noise on the count is a share of the expected batch."""

    kind: Literal["fixed", "percentile", "quantile"]
    quantile: float
    clip_rate: float
    count_noise: float


def unprotected(mechanism: Mechanism, num_clients: int) -> ClientMechanism:
    """A mechanism without privacy, the same for all clients."""

    def release(
        client: jax.Array,
        clip: jax.Array,
        noise: Any,
        loss: Loss,
        parameters: Tree,
        examples: Tree,
        mask: jax.Array,
    ) -> tuple[Tree, jax.Array]:
        del client
        return mechanism.release(noise, loss, parameters, examples, mask), clip

    def random(key: Key, parameters: Tree, shape: tuple[int, ...]) -> Any:
        del shape  # there is no noise to draw
        return mechanism.random(key, parameters)

    return ClientMechanism(jnp.ones(num_clients), random, release, lambda _: mechanism.event)


def protected(
    noise_multipliers: tuple[float, ...], clips: tuple[float, ...], batches: tuple[int, ...], adaptive: Adaptive
) -> ClientMechanism:
    """Clip each gradient to the client's clip, sum, and add N(0, (noise_multiplier * clip)^2) once.

    Guarantee: as that of `gaussian` for the records of each client, by its own noise multiplier; where the clip
    follows a quantile, by that of both releases together; none where it is a percentile.
    """
    multipliers, expected = jnp.asarray(noise_multipliers), jnp.asarray(batches, jnp.float32)

    def random(key: Key, parameters: Tree, shape: tuple[int, ...]) -> Any:
        on_sum = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((*shape, *leaf.shape), leaf.dtype), parameters)
        return normal_like(key, (on_sum, jax.ShapeDtypeStruct(shape, jnp.float32)))

    def release(
        client: jax.Array,
        clip: jax.Array,
        noise: Any,
        loss: Loss,
        parameters: Tree,
        examples: Tree,
        mask: jax.Array,
    ) -> tuple[Tree, jax.Array]:
        on_sum, on_count = noise
        if adaptive.kind == "percentile":
            clip = percentile(clipped_sum(loss, parameters, examples, mask, clip).norms, mask, adaptive.quantile)
        total, _, norms = clipped_sum(loss, parameters, examples, mask, clip)
        scale = multipliers[client] * clip
        released = jax.tree.map(lambda value, unit: value + scale.astype(value.dtype) * unit, total, on_sum)
        if adaptive.kind == "quantile":
            within = jnp.where(mask, jnp.where(norms <= clip, 0.5, -0.5), 0.0).sum()
            share = 0.5 + within / expected[client] + adaptive.count_noise * on_count
            clip = jnp.maximum(clip * jnp.exp(-adaptive.clip_rate * (share - adaptive.quantile)), LEAST_CLIP)
        return released, clip

    def event(client: int) -> Event:
        noise = noise_multipliers[client]
        if adaptive.kind == "percentile":
            return PERCENTILE
        if adaptive.kind == "quantile":
            noise = together(noise, adaptive.count_noise * batches[client])
        return Gaussian(noise_multiplier=noise)

    return ClientMechanism(jnp.asarray(clips), random, release, event)


def percentile(norms: jax.Array, mask: jax.Array, quantile: float) -> jax.Array:
    """The thesis' clip: a percentile of the norms of the batch at hand."""
    return jnp.maximum(jnp.nanquantile(jnp.where(mask, norms, jnp.nan), quantile), LEAST_CLIP)


def together(noise_multiplier: float, count_noise: float) -> float:
    """Noise multiplier of a noisy sum and a noisy count of halves, released together."""
    return 1 / math.hypot(1 / noise_multiplier, 1 / (2 * count_noise))
