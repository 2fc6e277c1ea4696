"""Studies of epsilon: along steps, rates and noise, over Renyi orders, and against the worst case of a theorem."""

import dataclasses
import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from dpinfer.accounting import accountant
from dpinfer.accounting.base import Bound
from dpinfer.accounting.calibrate import noise_multiplier
from dpinfer.accounting.events import Barker, Event, Gaussian, PoissonGaussian, Repeat, SubsetGaussian, tally
from dpinfer.accounting.sound import barker, pld, rdp, renyi, wang
from dpinfer.errors import InputError
from pipeline.settings.study import Curve, Dominance, Noise, Orders, Search, Span
from pipeline.studies import Row

GRID = 401
"""Points of the grid of variances in which the worst case is looked for."""


def spread(values: tuple[float, ...] | Span) -> list[float]:
    """The listed values, or those of a span."""
    if not isinstance(values, Span):
        return [float(value) for value in values]
    if values.spacing == "log":
        return np.geomspace(values.start, values.stop, values.count).tolist()
    even = np.linspace(values.start, values.stop, values.count)
    return (np.unique(np.round(even)) if values.spacing == "whole" else even).tolist()


def curve(settings: Curve) -> Iterator[Row]:
    """Epsilon, its lower bound where asked for, and the slope of log epsilon over log x between neighbours.

    Where an accountant refuses to answer, its reason stands in the place of epsilon.
    """
    points: list[tuple[float, Bound]] = []
    values = spread(settings.values)
    for x in map(round, values) if settings.over == "num_steps" else values:
        try:
            points.append((x, _bound(_at(settings, x))))
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


def _at(settings: Curve, x: float) -> Curve:
    """The settings with the variable of the horizontal axis put at `x`."""
    changes: dict[str, Any] = {settings.over: x}
    return dataclasses.replace(settings, **changes)


def _bound(settings: Curve) -> Bound:
    """The accountant's answer for one point."""
    module: Any = accountant(settings.accountant)
    options: dict[str, Any] = dict(settings.options)
    if settings.lower:
        options["with_lower"] = True
    found: Bound = module.epsilon(_curve_event(settings), settings.delta, settings.adjacency, **options)
    return found


def _curve_event(settings: Curve) -> Event:
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


def orders_of_renyi(settings: Orders) -> Iterator[Row]:
    """Epsilon at each order by the classic conversion; the best of them; how often the curve turns."""
    orders = spread(settings.values)
    values = _wang(settings, orders) if settings.curve == "wang" else _poisson(settings, orders)
    for order, value in zip(orders, values, strict=True):
        yield {"order": order, "metric": "epsilon", "value": value}
    best = int(np.argmin(values))
    yield {"order": orders[best], "metric": "least", "value": values[best]}
    falls = np.diff(values) < 0
    yield {"metric": "turns", "value": int((falls[1:] != falls[:-1]).sum())}
    if settings.curve == "poisson":
        yield from _searches(settings)


def _poisson(settings: Orders, orders: list[float]) -> list[float]:
    counts = tally(_orders_event(settings))
    return [
        rdp.to_epsilon(rdp.total(counts, order, "add-remove"), order, settings.delta, "classic")
        for order in orders
    ]


def _wang(settings: Orders, orders: list[float]) -> list[float]:
    separation = settings.clips / settings.noise_multiplier
    amplified = wang.amplify(lambda order: order * separation**2 / 2, settings.sampling_rate, round(max(orders)))
    return [
        settings.num_steps * float(amplified[round(order) - 2]) + math.log(1 / settings.delta) / (round(order) - 1)
        for order in orders
    ]


def _searches(settings: Orders) -> Iterator[Row]:
    event = _orders_event(settings)
    for name in ("grid", "ternary"):
        found = rdp.epsilon(event, settings.delta, "add-remove", orders=name, conversion="classic")
        yield {"metric": name, "value": found.upper}
    yield {"metric": "pld", "value": pld.epsilon(event, settings.delta, "add-remove").upper}


def _orders_event(settings: Orders) -> Repeat:
    one = PoissonGaussian(noise_multiplier=settings.noise_multiplier, sampling_rate=settings.sampling_rate)
    return Repeat(event=one, count=settings.num_steps)


def search(settings: Search) -> Iterator[Row]:
    """Both epsilons and the relative gain at each combination of the settings."""
    for rate, noise, steps in product(settings.sampling_rates, settings.noise_multipliers, settings.num_steps):
        event = Repeat(event=PoissonGaussian(noise_multiplier=noise, sampling_rate=rate), count=steps)
        by_grid, by_search = (
            rdp.epsilon(event, settings.delta, "add-remove", orders=orders, conversion="classic").upper
            for orders in ("grid", "ternary")
        )
        where = {"sampling_rate": rate, "noise_multiplier": noise, "num_steps": steps}
        for metric, value in (("grid", by_grid), ("ternary", by_search), ("gain", 1 - by_search / by_grid)):
            yield {**where, "metric": metric, "value": value}


def noise_for_target(settings: Noise) -> Iterator[Row]:
    """The noise multiplier, and its ratio to the sampling rate, relative to that of the largest rate.

    The signal of a step grows with the sampling rate: a constant ratio is a constant signal-to-noise ratio.
    """
    options: dict[str, Any] = dict(settings.options)
    found = {
        rate: noise_multiplier(
            settings.epsilon,
            settings.delta,
            partial(_noise_event, settings, rate),
            "add-remove",
            settings.accountant,
            **options,
        )
        for rate in settings.sampling_rates
    }
    reference = found[max(found)] / max(found)
    for rate, noise in found.items():
        yield {"sampling_rate": rate, "metric": "noise_multiplier", "value": noise}
        yield {"sampling_rate": rate, "metric": "noise_over_rate", "value": noise / rate / reference}


def _noise_event(settings: Noise, rate: float, noise: float) -> Repeat:
    return Repeat(event=PoissonGaussian(noise_multiplier=noise, sampling_rate=rate), count=settings.num_steps)


def dominance(settings: Dominance) -> Iterator[Row]:
    """Theorem 2, the certified bound and the worst case at each order; Theorem 1 against its closed form."""
    for order in spread(settings.orders):
        values = {
            "theorem": float(barker.theorem_2(np.array([order]), settings.batch)[0]),
            "certified": float(barker.certified(np.array([order]), settings.batch)[0]),
            "worst_case": worst_case(order, settings.batch),
            "theorem_1_error": barker.theorem_1(order, 1.5, 2.0) - renyi.gaussian(order, 2 * 1.5 / 2.0**0.5),
        }
        values["slack_theorem"] = values["theorem"] - values["worst_case"]
        for metric, value in values.items():
            yield {"order": order, "metric": metric, "value": value}


def worst_case(order: float, batch: int) -> float:
    """Largest divergence of N(m, v1) from N(0, v2) for v in [1, 2], |v1 - v2| <= 5/b and m <= 2/sqrt(b).

    The variances go through a grid; the mean sits at its end, as the divergence grows with it.
    """
    first = np.linspace(1.0, 2.0, GRID)[:, None]
    second = np.clip(first + np.linspace(-5.0, 5.0, GRID)[None, :] / batch, 1.0, 2.0)
    mixed = order * second + (1.0 - order) * first
    mean = order * (4.0 / batch) / (2.0 * mixed)
    spread_term = ((1.0 - order) * np.log(first) + order * np.log(second) - np.log(mixed)) / (2.0 * (order - 1.0))
    return float((mean + spread_term).max())


ROWS = {
    "curve": curve,
    "dominance": dominance,
    "noise": noise_for_target,
    "orders": orders_of_renyi,
    "search": search,
}
