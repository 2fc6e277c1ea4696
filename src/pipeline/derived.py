"""What follows from the settings of a cell: code that stages run, so it counts for what is run again.

Settings themselves are values, and count by value.
"""

import math
from dataclasses import replace
from typing import Any

from pipeline.settings.cell import Cell, Dpsgd, Sampled
from pipeline.settings.chain import CorrectionFitting, Langevin, Metropolised, MinibatchBarker, Sgld
from pipeline.settings.method import Method
from pipeline.settings.pvi import PviClients, PviRecords


def is_private(settings: Cell) -> bool:
    """Whether noise is added at all."""
    return settings.epsilon != math.inf


def is_calibrated(settings: Cell) -> bool:
    """Whether there is something to find: the noise for a target, or the rounds that clients' budgets allow."""
    has_budgets = isinstance(settings, PviRecords) and any(own.budget is not None for own in settings.own)
    finds_noise = settings.noise_multiplier is None and not settings.fixes_noise
    return is_private(settings) and (finds_noise or has_budgets)


def given_noise(settings: Cell) -> float | None:
    """The noise multiplier where it is not calibrated: as stated, or as the method fixes it."""
    if isinstance(settings, MinibatchBarker):
        # The least noise, of deviation 1, over the most that one record adds to the statistic.
        return math.sqrt(settings.batch) if is_private(settings) else None
    return settings.noise_multiplier


def recorded(settings: Cell) -> list[int]:
    """The steps that are kept."""
    every = settings.record_every
    return list(range(every, settings.num_steps + 1, every)) if every else []


def correction(settings: Metropolised) -> CorrectionFitting:
    """What is fitted before a chain can run."""
    return CorrectionFitting(variance=settings.noise_variance, num_steps=settings.correction_steps)


def as_claimed(settings: Method) -> Method:
    """The run as the paper's account sees it, where that departs from what is run."""
    claimed, seen = settings.claimed, dict[str, Any]()
    if isinstance(settings, Sampled | Langevin) and claimed.sampler is not None:
        seen["sampler"] = claimed.sampler
    if isinstance(settings, Dpsgd) and claimed.clipped:
        seen["clipping"] = "record"
    if isinstance(settings, Sgld) and claimed.clipped is not None:
        seen["clipped"] = claimed.clipped
    if isinstance(settings, PviRecords) and settings.clipping == "percentile":
        # The thesis' ledger sees the ratio of noise to clip alone, whichever way the clip was chosen.
        seen["clipping"] = "fixed"
    if isinstance(settings, PviClients) and settings.noise_at == "shared":
        # Algorithm 3 is accounted as if an adversary saw the sum of all messages alone.
        seen["noise_at"] = "client"
    return replace(settings, **seen)
