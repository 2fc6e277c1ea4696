"""Batches of fixed size drawn with replacement, as in the released code of DPVI and DP-SGLD.

A record may be in a batch several times, each time clipped on its own, so that it moves the sum by as many clips.
The event says so; what it costs is more than for the samplers that the papers account for.
"""

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event, ReplacementGaussian
from dpinfer.sampling.base import Batch, Sampler, on_sample, require_size
from dpinfer.types import Key


def replacement(num_records: int, batch: int) -> Sampler:
    """Draw `batch` positions independently and uniformly for each step."""
    require_size(num_records, batch)
    mask = jnp.ones(batch, bool)

    def draw(key: Key) -> Batch:
        return Batch(jax.random.randint(key, (batch,), 0, num_records), mask)

    def event(whole: Event) -> Event:
        return on_sample(
            whole, lambda noise: ReplacementGaussian(noise_multiplier=noise, batch=batch, records=num_records)
        )

    return Sampler(draw, float(batch), event)
