"""What a metric is, and what it is given."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax

from dpinfer.models.base import Model
from dpinfer.types import Key, Records, Tree
from pipeline.settings.method import Method

DRAWS = 1000
"""So many draws of the posterior stand for it."""

Sample = Callable[[Key], Tree]
"""Draws parameters from an approximate posterior."""

Kind = Literal["end", "curve", "whole"]


class Fitted(NamedTuple):
    """One seed's fit, as a metric is given it.

    Attributes:
        key: For the random numbers of the metric; no fit has used it.
        model: The model that was fitted.
        sample: Draws parameters from the approximate posterior at the end of the run.
        trace: What the run recorded, the leading axis of every leaf counting recordings.
        train: The records of the fit.
        test: The records that were held back.
        reference: What the metric's `reference` has computed, if it has one.
    """

    key: Key
    model: Model
    sample: Sample
    trace: Tree
    train: Records
    test: Records
    reference: Any


class Metric(NamedTuple):
    """A metric of a fit.

    Attributes:
        kind: What the values are of, and what they cost. `end`: the end of the run. `curve`: one value for every
            recording, as it was known and paid for by then. `whole`: the recordings taken together, as a single
            value or one for every recording; each costs what the whole run costs.
        function: `(fitted) -> values`, an array or several by name. It is compiled.
        places: `(model, sample) -> columns` that say where each value is measured, for a metric of the end that is
            measured at several places.
        reference: `(settings, model, train) -> anything`, computed once for all seeds.
    """

    kind: Kind
    function: Callable[[Fitted], jax.Array | dict[str, jax.Array]]
    places: Callable[[Model, Sample], dict[str, list[Any]]] | None = None
    reference: Callable[[Method, Model, Records], Any] | None = None


def count(records: Records) -> int:
    """The number of records."""
    return next(iter(records.values())).shape[0]
