"""Fits of which only that is known which a metric looks at."""

from typing import Any

import jax

from dpinfer.models.base import Model
from dpinfer.types import Records
from pipeline.metrics.base import Fitted, Sample


def fitted(
    model: Model,
    sample: Sample = lambda _: (),
    *,
    trace: Any = None,
    train: Records | None = None,
    test: Records | None = None,
    reference: Any = None,
) -> Fitted:
    return Fitted(jax.random.key(0), model, sample, trace, train or {}, test or {}, reference)
