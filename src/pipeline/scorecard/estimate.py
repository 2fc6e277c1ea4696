"""What a selection of metrics comes to, and how well that is known."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpinfer.errors import InputError
from pipeline.settings.claim import Selection

NO_SEEDS, ONE_RUN, EXTREME, TIMED = "no seeds", "one run", "an extreme over runs", "a median over rounds"


class Estimate(NamedTuple):
    """Numbers at the places along a curve, or at one place, each with its standard error.

    Attributes:
        value: By place.
        error: Standard error over seeds, by place; zero where there are none, not a number where not known.
        note: Why errors are zero or not known; empty where seeds tell them.
    """

    value: pd.Series
    error: pd.Series
    note: str

    def minus(self, other: "Estimate") -> "Estimate":
        """The difference, of runs that are independent."""
        return Estimate(self.value - other.value, _both(self.error, other.error), self._noted(other))

    def over(self, other: "Estimate") -> "Estimate":
        """The ratio, with its error to first order."""
        ratio = self.value / other.value
        error = _both(self.error, ratio * other.error) / other.value.abs()
        return Estimate(ratio, error, self._noted(other))

    def _noted(self, other: "Estimate") -> str:
        # What has no seeds adds no error to what has.
        notes = [own.note for own in (self, other) if own.note != NO_SEEDS]
        return next((note for note in notes if note), "") if notes else NO_SEEDS


def estimate(selection: Selection, metrics: Mapping[str, pd.DataFrame], along: str | None = None) -> Estimate:
    """The number of a selection, less what is taken off it and over what it is divided by, at every place."""
    own = _by_place(selection, select(selection, metrics), along)
    if selection.minus is not None:
        own = own.minus(estimate(selection.minus, metrics, along))
    return own if selection.over is None else own.over(estimate(selection.over, metrics, along))


def parts(selection: Selection) -> list[Selection]:
    """A selection and all that is taken off it or that it is divided by."""
    others = [other for other in (selection.minus, selection.over) if other is not None]
    return [selection, *(part for other in others for part in parts(other))]


def select(selection: Selection, metrics: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Rows of the metric that agree with `where`; none if that cell, or the experiment, was not run."""
    if selection.experiment not in metrics:
        return pd.DataFrame()
    chosen = metrics[selection.experiment]
    for column, wanted in {"metric": selection.metric, **selection.where}.items():
        if column not in chosen:
            raise InputError(f"a claim asks for the column {column}, which {selection.experiment} does not have")
        chosen = chosen[chosen[column] == wanted]
    return chosen


def _by_place(selection: Selection, chosen: pd.DataFrame, along: str | None) -> Estimate:
    groups: dict[Any, pd.DataFrame]
    if along is None:
        groups = {0: chosen}
    elif along in chosen:
        groups = dict(list(chosen.groupby(along)))
    else:
        raise InputError(f"a claim goes along {along}, which {selection.experiment} does not have")
    return Estimate(
        pd.Series({place: _reduced(selection, group) for place, group in groups.items()}, dtype=float),
        pd.Series({place: _error(selection, group) for place, group in groups.items()}, dtype=float),
        _note(selection, chosen),
    )


def _both(one: pd.Series, other: pd.Series) -> pd.Series:
    """The error of a sum of two that are independent, at the places that both have."""
    return (one**2 + other**2) ** 0.5


def _reduced(selection: Selection, chosen: pd.DataFrame) -> float:
    values = chosen[selection.of]
    reducers = {"mean": values.mean, "sd": values.std, "min": values.min, "max": values.max}
    return float(reducers[selection.reduce]())


def _note(selection: Selection, chosen: pd.DataFrame) -> str:
    if "device" in chosen:
        return TIMED
    if "seed" not in chosen or selection.of != "value":
        return NO_SEEDS
    if selection.reduce in ("min", "max"):
        return EXTREME
    return "" if chosen["seed"].nunique() > 1 else ONE_RUN


def _error(selection: Selection, chosen: pd.DataFrame) -> float:
    """Of a mean over seeds, or of their standard deviation, by what it is for a normal variable."""
    note = _note(selection, chosen)
    if note:
        return 0.0 if note == NO_SEEDS else np.nan
    spread, count = float(chosen["value"].std()), len(chosen)
    return spread / (2 * (count - 1)) ** 0.5 if selection.reduce == "sd" else spread / count**0.5
