"""Bounds on the Renyi divergence of one Barker test, against the worst case of Theorem 2's assumptions."""

from collections.abc import Iterator

import numpy as np

from dpinfer.accounting.sound import barker, renyi
from pipeline.settings.study import Dominance
from pipeline.studies import Row
from pipeline.studies.span import spread

GRID = 401


def rows(settings: Dominance) -> Iterator[Row]:
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
