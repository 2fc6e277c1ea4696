"""Epsilon along the number of steps, the sampling rate or the noise, by one accountant."""

import dataclasses
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from dpinfer.accounting import accountant
from dpinfer.accounting.base import Bound
from dpinfer.accounting.events import Barker, Event, Gaussian, PoissonGaussian, Repeat, SubsetGaussian
from dpinfer.errors import InputError
from pipeline.settings.study import Curve
from pipeline.studies import Row
from pipeline.studies.span import spread


def rows(settings: Curve) -> Iterator[Row]:
    """Epsilon, its lower bound where asked for, and the slope of log epsilon over log x between neighbours.

    Where an accountant refuses to answer, its reason stands in the place of epsilon.
    """
    points: list[tuple[float, Bound]] = []
    values = spread(settings.values)
    for x in map(round, values) if settings.over == "num_steps" else values:
        try:
            points.append((x, bound(at(settings, x))))
        except InputError as refusal:
            yield {settings.over: x, "metric": "refused", "value": math.nan, "reason": str(refusal)}
    for x, found in points:
        yield {settings.over: x, "metric": "epsilon", "value": settings.epsilon_factor * found.upper}
        if found.lower is not None:
            yield {settings.over: x, "metric": "epsilon_lower", "value": settings.epsilon_factor * found.lower}
    for (x, before), (after_x, after) in pairwise(points):
        if 0 < before.upper < math.inf and 0 < after.upper < math.inf:
            slope = math.log(after.upper / before.upper) / math.log(after_x / x)
            yield {settings.over: after_x, "metric": "log_slope", "value": slope}


def at(settings: Curve, x: float) -> Curve:
    """The settings with the variable of the horizontal axis put at `x`."""
    changes: dict[str, Any] = {settings.over: x}
    return dataclasses.replace(settings, **changes)


def bound(settings: Curve) -> Bound:
    """The accountant's answer for one point."""
    module: Any = accountant(settings.accountant)
    options: dict[str, Any] = dict(settings.options)
    if settings.lower:
        options["with_lower"] = True
    found: Bound = module.epsilon(event(settings), settings.delta, settings.adjacency, **options)
    return found


def event(settings: Curve) -> Event:
    """What the steps at one point release."""
    noise = settings.noise_factor * settings.noise_multiplier
    one: Event
    match settings.sampler:
        case "full":
            one = Gaussian(noise_multiplier=noise)
        case "poisson":
            one = PoissonGaussian(noise_multiplier=noise, sampling_rate=settings.sampling_rate)
        case "subset":
            one = SubsetGaussian(noise_multiplier=noise, sampling_rate=settings.sampling_rate)
        case "barker":
            assert settings.records is not None
            one = Barker(batch=int(settings.sampling_rate * settings.records), records=settings.records)
    return Repeat(event=one, count=settings.num_steps)
