"""The mechanism, the sampler and the account that arguments of `DPSVI` stand for."""

import math
from dataclasses import replace
from functools import cache

from dpinfer.accounting.budget import Budget
from dpinfer.accounting.events import Event, PoissonGaussian, SubsetGaussian
from dpinfer.accounting.ledger import progress_note
from dpinfer.errors import InputError
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import Note
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import clip_only, exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.mechanism.grid import on_grid
from dpinfer.sampling import by_name
from dpinfer.sampling.base import Sampler, everyone, on_sample
from dpinfer.sampling.by_name import SamplerName
from dpinfer.sampling.poisson import capacity

MOST_STEPS = 10_000_000
"""Of which no Poisson batch exceeds the room for it."""
ACCOUNTS = 10
"""So many accounts, some hundredths of a second each, a progress bar is worth."""


def mechanism_of(
    clip: float, noise_multiplier: float, micro_batch: int | None, most_records: int | None = None
) -> Mechanism:
    """Clip and perturb; without noise clip alone, and with an infinite clip do neither.

    Args:
        clip: Largest norm of one record's gradient.
        noise_multiplier: Noise standard deviation over clip.
        micro_batch: How many gradients are held in memory at once.
        most_records: Of a batch, for noise on a grid; None for the quick noise of experiments.
    """
    if not clip > 0:
        raise InputError(f"clipping_threshold is {clip}, but should be positive")
    if not 0 <= noise_multiplier < math.inf:
        raise InputError(f"dp_scale is {noise_multiplier}, but should be finite and not negative")
    if math.isinf(clip) and noise_multiplier:
        raise InputError("clipping_threshold is inf, but noise is in units of it: it should be finite")
    if math.isinf(clip):
        return exact()
    if not noise_multiplier:
        return clip_only(clip, micro_batch)
    if most_records is None:
        return gaussian(clip, noise_multiplier, micro_batch)
    return on_grid(clip, noise_multiplier, most_records, micro_batch)


def most_records_of(sampler: SamplerName, num_records: int | None, expected_batch: float | None) -> int:
    """The largest number of records in a batch."""
    if num_records is None:
        raise InputError("release mode needs the number of all records: state num_records")
    if expected_batch is None:
        return num_records
    if sampler == "subset":
        return int(expected_batch)
    return capacity(num_records, expected_batch / num_records, MOST_STEPS)


def sampler_of(name: SamplerName, num_records: int, expected_batch: float | None, num_steps: int) -> Sampler:
    """Draw batches of that expected size, or all records where it is None."""
    _require_known(name)
    if expected_batch is None:
        return everyone(num_records)
    return by_name.sampler_of(name, num_records, expected_batch, num_steps)


def sampled(name: SamplerName, whole: Event, sampling_rate: float) -> Event:
    """What a release on all records becomes on a sample of that share of them."""
    _require_known(name)
    if not 0 < sampling_rate <= 1:
        raise InputError(f"q is {sampling_rate}, but should lie in (0, 1]")
    if sampling_rate == 1:
        return whole
    kind = SubsetGaussian if name == "subset" else PoissonGaussian
    return on_sample(whole, lambda noise: kind(noise_multiplier=noise, sampling_rate=sampling_rate))


def cost_note(budget: Budget | None, algorithm: Algorithm, taken: int, most: int) -> Note | None:
    """What a progress bar tells of the steps taken before and in a run: the tight bound of a few counts of steps.

    Args:
        budget: What pays for them; where there is none, nothing is told.
        algorithm: What states the event of a number of steps.
        taken: Steps taken before.
        most: How many have been paid for.
    """
    if budget is None:
        return None
    part = math.ceil(most / ACCOUNTS)
    empty = replace(budget.ledger, entries=())

    @cache
    def bound(count: int) -> str:
        return progress_note(empty, algorithm.event(count), empty.accountant)

    return lambda done: bound(min(most, part * math.ceil((taken + done) / part)))


def _require_known(name: str) -> None:
    if name not in ("poisson", "subset"):
        raise InputError(f"the sampler is {name}, but should be poisson or subset")
