"""Epsilon as a function of the Renyi order, and what a grid of orders and a continuous search make of it."""

import math
from collections.abc import Iterator

import numpy as np

from dpinfer.accounting.events import PoissonGaussian, Repeat, tally
from dpinfer.accounting.sound import pld, rdp, wang
from pipeline.settings.study import Orders
from pipeline.studies import Row
from pipeline.studies.span import spread


def rows(settings: Orders) -> Iterator[Row]:
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
    counts = tally(_event(settings))
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
    event = _event(settings)
    for name in ("grid", "ternary"):
        found = rdp.epsilon(event, settings.delta, "add-remove", orders=name, conversion="classic")
        yield {"metric": name, "value": found.upper}
    yield {"metric": "pld", "value": pld.epsilon(event, settings.delta, "add-remove").upper}


def _event(settings: Orders) -> Repeat:
    one = PoissonGaussian(noise_multiplier=settings.noise_multiplier, sampling_rate=settings.sampling_rate)
    return Repeat(event=one, count=settings.num_steps)
