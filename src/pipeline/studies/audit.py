"""Lower bounds on the epsilon of a mechanism, beside what its paper and a sound accountant say of it."""

import math
from collections.abc import Iterator

import jax

from dpinfer.audit.case import audit
from dpinfer.audit.cases import CASES
from pipeline.settings.study import Audit
from pipeline.studies import Row


def rows(settings: Audit) -> Iterator[Row]:
    """The bound, and the counts that it rests on."""
    case = CASES[settings.mechanism]()
    found = audit(case, jax.random.key(settings.seed), settings.trials, settings.confidence)
    about = {
        "neighbours": case.neighbours,
        "adjacency": found.adjacency,
        "delta": found.delta,
        "confidence": settings.confidence,
        "eps_paper": math.nan if found.eps_paper is None else found.eps_paper,
        "eps_sound": found.eps_sound,
        "verdict": found.verdict,
    }
    for metric in found.lower._fields:
        yield {**about, "metric": metric, "value": getattr(found.lower, metric)}


ROWS = {"audit": rows}
