"""The mechanism, the sampler and the account that arguments of `DPSVI` stand for."""

import math
from functools import cache
from typing import Any

from dpinfer.accounting.events import Event, PoissonGaussian, SubsetGaussian
from dpinfer.accounting.ledger import Ledger
from dpinfer.accounting.so_far import so_far
from dpinfer.errors import InputError
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import Note
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import clip_only, exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.sampling import named
from dpinfer.sampling.base import Sampler, on_sample
from dpinfer.sampling.everyone import everyone
from dpinfer.sampling.named import SamplerName

ACCOUNTS = 10
"""So many accounts, some hundredths of a second each, a progress bar is worth."""


def mechanism_of(clip: float, noise_multiplier: float, micro_batch: int | None) -> Mechanism:
    """Clip and perturb; without noise clip alone, and with an infinite clip do neither."""
    if not clip > 0:
        raise InputError(f"clipping_threshold is {clip}, but should be positive")
    if not 0 <= noise_multiplier < math.inf:
        raise InputError(f"dp_scale is {noise_multiplier}, but should be finite and not negative")
    if math.isinf(clip) and noise_multiplier:
        raise InputError("clipping_threshold is inf, but noise is in units of it: it should be finite")
    if math.isinf(clip):
        return exact()
    return gaussian(clip, noise_multiplier, micro_batch) if noise_multiplier else clip_only(clip, micro_batch)


def sampler_of(name: SamplerName, num_records: int, expected_batch: float | None, num_steps: int) -> Sampler:
    """Draw batches of that expected size, or all records where it is None."""
    _require_known(name)
    if expected_batch is None:
        return everyone(num_records)
    return named.sampler_of(name, num_records, expected_batch, num_steps)


def sampled(name: SamplerName, whole: Event, sampling_rate: float) -> Event:
    """What a release on all records becomes on a sample of that share of them."""
    _require_known(name)
    if not 0 < sampling_rate <= 1:
        raise InputError(f"q is {sampling_rate}, but should lie in (0, 1]")
    if sampling_rate == 1:
        return whole
    kind = SubsetGaussian if name == "subset" else PoissonGaussian
    return on_sample(whole, lambda noise: kind(noise_multiplier=noise, sampling_rate=sampling_rate))


def cost_note(unspent: Ledger | None, algorithm: Algorithm, taken: Any, most: int | None) -> Note | None:
    """What a progress bar tells of the steps taken before and in a run: the tight bound of a few counts of steps.

    Args:
        unspent: The budget; where there is none, nothing is told.
        algorithm: What states the event of a number of steps.
        taken: Steps taken before.
        most: How many the budget is for.
    """
    if unspent is None or most is None:
        return None
    part = math.ceil(most / ACCOUNTS)

    @cache
    def bound(count: int) -> str:
        return so_far(unspent, algorithm.event(count), unspent.accountant)

    return lambda done: bound(min(most, part * math.ceil((int(taken) + done) / part)))


def _require_known(name: str) -> None:
    if name not in ("poisson", "subset"):
        raise InputError(f"the sampler is {name}, but should be poisson or subset")
