"""Samplers by the names used in settings."""

from typing import get_args

from dpinfer.errors import InputError
from dpinfer.sampling.base import Sampler
from dpinfer.sampling.fixed_size import choice, replacement, subset
from dpinfer.sampling.names import SamplerName
from dpinfer.sampling.poisson import poisson

__all__ = ["FIXED_SIZE", "SamplerName", "sampler_of"]

FIXED_SIZE = {"subset": subset, "choice": choice, "replacement": replacement}


def sampler_of(name: SamplerName, num_records: int, expected_batch: float, num_steps: int) -> Sampler:
    """Draw batches of that expected size: by a coin for every record, or of fixed size.

    Args:
        name: poisson; subset; choice, which is a subset drawn by JAX's own means, at a cost of O(n); or
            replacement, in whose batches a record may be several times.
        num_records: How many records there are.
        expected_batch: A whole number, unless the name is poisson.
        num_steps: How many batches a run draws.
    """
    if name not in get_args(SamplerName):
        raise InputError(f"the sampler is {name}, but should be one of {', '.join(get_args(SamplerName))}")
    if not 0 < expected_batch <= num_records:
        raise InputError(
            f"expected_batch is {expected_batch}, but should be positive and at most the number of records, "
            f"{num_records}"
        )
    if name == "poisson":
        return poisson(num_records, expected_batch / num_records, num_steps)
    if expected_batch != int(expected_batch):
        raise InputError(f"expected_batch is {expected_batch}, but batches of fixed size have a whole number")
    return FIXED_SIZE[name](num_records, int(expected_batch))
