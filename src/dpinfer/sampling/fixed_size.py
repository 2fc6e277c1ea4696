"""Batches of fixed size: without replacement, as in most of the papers, and with."""

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event, ReplacementGaussian
from dpinfer.sampling.base import Batch, Sampler, event_of_subsets, on_sample, require_size
from dpinfer.sampling.feistel import permute, round_keys
from dpinfer.types import Key


def subset(num_records: int, batch: int) -> Sampler:
    """Draw a uniform subset of size `batch` afresh for each step, in O(batch).

    Its sound accounting differs from Poisson sampling's: replacing a record moves a clipped sum by 2 clip.
    """
    require_size(num_records, batch)
    positions, mask = jnp.arange(batch), jnp.ones(batch, bool)

    def draw(key: Key) -> Batch:
        return Batch(permute(round_keys(key), positions, num_records), mask)

    return Sampler(draw, float(batch), event_of_subsets(num_records, batch))


def choice(num_records: int, batch: int) -> Sampler:
    """Draw by `jax.random.choice` without replacement, for comparison: it costs O(n) for each batch."""
    require_size(num_records, batch)

    def draw(key: Key) -> Batch:
        index = jax.random.choice(key, num_records, (batch,), replace=False)
        return Batch(index, jnp.ones(batch, bool))

    return Sampler(draw, float(batch), event_of_subsets(num_records, batch))


def replacement(num_records: int, batch: int) -> Sampler:
    """Draw `batch` positions independently and uniformly for each step, as the code of DPVI and DP-SGLD does.

    A record may be in a batch several times, each time clipped on its own, so that it moves the sum by as many
    clips. The event says so; what it costs is more than for the samplers that the papers account for.
    """
    require_size(num_records, batch)
    mask = jnp.ones(batch, bool)

    def draw(key: Key) -> Batch:
        return Batch(jax.random.randint(key, (batch,), 0, num_records), mask)

    def event(whole: Event) -> Event:
        return on_sample(
            whole, lambda noise: ReplacementGaussian(noise_multiplier=noise, batch=batch, records=num_records)
        )

    return Sampler(draw, float(batch), event)
