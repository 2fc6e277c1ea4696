"""Judge one claim by the metrics that it names."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pandas as pd

from dpinfer.compare import compare
from dpinfer.errors import InputError
from dpinfer.settings.claim import Claim, Selection

NOTHING: pd.Series = pd.Series(dtype=float)
REPRODUCED, DIFFERS, NOT_TESTABLE = "reproduced", "differs", "not testable here"


def score(
    claim: Claim, metrics: Mapping[str, pd.DataFrame], tables: Mapping[str, pd.DataFrame] | None = None
) -> dict[str, Any]:
    """Return the claim's row of the scorecard.

    Args:
        claim: What is claimed and how it is computed.
        metrics: Metrics by experiment; a claim about a cell that was not run is not testable.
        tables: The paper's published tables by name.
    """
    selections = [part for value in claim.values for part in _parts(value)]
    rows = [select(selection, metrics) for selection in selections]
    obstacle = _obstacle(selections, rows)
    if obstacle:
        rows = []
    amounts = [] if obstacle else [_amount(claim, value, metrics) for value in claim.values]
    shown = None
    if claim.table is not None and not obstacle:
        share, shown = compare(claim, rows[0], (tables or {})[claim.table])
        amounts = [] if share is None else [pd.Series([share])]
        obstacle = None if share is not None else f"not all values of {claim.table} were computed at this scale"
    ours = [float(amount.iloc[0]) for amount in amounts]
    # A place that one of two curves does not have says nothing about their order.
    margins = pd.concat([NOTHING, *(after - before for before, after in pairwise(amounts))]).dropna()
    if len(amounts) > 1 and margins.empty:
        obstacle, ours = f"the curves share no value of {claim.along}", []
    return {
        "id": claim.id,
        "where": claim.where,
        "statement": claim.statement,
        "published": claim.published,
        "ours": shown or _shown(claim, ours, margins),
        "standard_error": ", ".join(
            _standard_error(selection, chosen) for selection, chosen in zip(selections, rows, strict=False)
        )
        if claim.table is None
        else "",
        "verdict": verdict(claim, ours, margins),
        "reason": obstacle or claim.reason,
        "eps_paper": _range(rows, "eps_paper"),
        "eps_sound": _range(rows, "eps_sound"),
        "experiments": ", ".join(sorted({selection.experiment for selection in selections})),
        "scale": ", ".join(sorted({scale for chosen in rows for scale in chosen["scale"]})),
    }


def verdict(claim: Claim, ours: list[float], margins: pd.Series) -> str:
    """Compare one value with the published one or with bounds, or several with each other."""
    if not ours:
        return NOT_TESTABLE
    if len(ours) == 1:
        holds = (
            (claim.published is None or abs(ours[0] - claim.published) <= claim.tolerance)
            and (claim.at_least is None or ours[0] >= claim.at_least)
            and (claim.at_most is None or ours[0] <= claim.at_most)
        )
    else:
        holds = bool((margins > -claim.tolerance).all())
    return REPRODUCED if holds else DIFFERS


def _parts(selection: Selection) -> list[Selection]:
    """A selection and all that is taken off it or that it is divided by."""
    others = [other for other in (selection.minus, selection.over) if other is not None]
    return [selection, *(part for other in others for part in _parts(other))]


def _amount(claim: Claim, selection: Selection, metrics: Mapping[str, pd.DataFrame]) -> pd.Series:
    """The number of a selection, at every place along which the order must hold."""
    amount = _by_place(claim, selection, select(selection, metrics))
    if selection.minus is not None:
        amount = amount - _amount(claim, selection.minus, metrics)
    return amount if selection.over is None else amount / _amount(claim, selection.over, metrics)


def _by_place(claim: Claim, selection: Selection, chosen: pd.DataFrame) -> pd.Series:
    if claim.along is None:
        return pd.Series([reduce(selection, chosen)])
    if claim.along not in chosen:
        raise InputError(
            f"the claim {claim.id} goes along {claim.along}, which {selection.experiment} does not have"
        )
    return chosen.groupby(claim.along).apply(lambda group: reduce(selection, group))


def _shown(claim: Claim, ours: list[float], margins: pd.Series) -> str:
    if claim.along is None or margins.empty:
        return ", ".join(f"{value:.4g}" for value in ours)
    held = (margins > -claim.tolerance).groupby(level=0).all()
    return f"holds at {held.sum()} of {len(held)} values of {claim.along}, least margin {margins.min():.3g}"


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


def reduce(selection: Selection, chosen: pd.DataFrame) -> float:
    """Reduce the chosen values to one number."""
    values = chosen[selection.of]
    reducers = {"mean": values.mean, "sd": values.std, "min": values.min, "max": values.max}
    return float(reducers[selection.reduce]())


def _standard_error(selection: Selection, chosen: pd.DataFrame) -> str:
    """Of the mean over seeds; what has no seeds, and an epsilon, has no error of this kind."""
    if "seed" not in chosen or selection.of != "value":
        return "exact"
    values = chosen["value"].to_numpy(float)
    return f"{values.std(ddof=1) / len(values) ** 0.5:.2g}" if len(values) > 1 else "one run"


def _range(rows: list[pd.DataFrame], column: str) -> str:
    values = sorted({float(value) for chosen in rows if column in chosen for value in chosen[column]})
    return " to ".join(f"{value:.3g}" for value in dict.fromkeys(values[:1] + values[-1:]))


def _obstacle(selections: list[Selection], rows: list[pd.DataFrame]) -> str | None:
    """Why the metrics at hand say nothing about a claim, if so."""
    for selection, chosen in zip(selections, rows, strict=True):
        if chosen.empty:
            wanted = ", ".join(f"{key} {value}" for key, value in selection.where.items())
            return f"{selection.experiment} was not run for {wanted or selection.metric} at this scale"
        if chosen.get("standin", pd.Series(dtype=bool)).any():
            return f"{selection.experiment} was run on stand-in data at this scale"
    return None
