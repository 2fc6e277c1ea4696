"""Judge one claim by the metrics that it names."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pandas as pd

from dpinfer.errors import InputError
from dpinfer.settings.claim import Claim, Selection

REPRODUCED, DIFFERS, NOT_TESTABLE = "reproduced", "differs", "not testable here"


def score(claim: Claim, metrics: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Return the claim's row of the scorecard.

    Args:
        claim: What is claimed and how it is computed.
        metrics: Metrics by experiment; a claim about a cell that was not run is not testable.
    """
    rows = [select(value, metrics) for value in claim.values]
    obstacle = _obstacle(claim, rows)
    if obstacle:
        rows = []
    ours = [reduce(value, chosen) for value, chosen in zip(claim.values, rows, strict=False)]
    margins = _margins(claim, rows)
    return {
        "id": claim.id,
        "where": claim.where,
        "statement": claim.statement,
        "published": claim.published,
        "ours": _shown(claim, ours, margins),
        "standard_error": ", ".join(_standard_error(chosen) for chosen in rows),
        "verdict": verdict(claim, ours, margins),
        "reason": obstacle or claim.reason,
        "eps_paper": _range(rows, "eps_paper"),
        "eps_sound": _range(rows, "eps_sound"),
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


def _margins(claim: Claim, rows: list[pd.DataFrame]) -> pd.Series:
    """By how much each value exceeds the one before it, at every place where the order must hold."""
    groups = [_by_place(claim, value, chosen) for value, chosen in zip(claim.values, rows, strict=False)]
    return pd.concat([after - before for before, after in pairwise(groups)]) if len(groups) > 1 else pd.Series()


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
    held = int((margins > -claim.tolerance).sum())
    return f"holds at {held} of {len(margins)} values of {claim.along}, least margin {margins.min():.3g}"


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
    values = chosen["value"]
    reducers = {"mean": values.mean, "sd": values.std, "min": values.min, "max": values.max}
    return float(reducers[selection.reduce]())


def _standard_error(chosen: pd.DataFrame) -> str:
    """Of the mean over seeds; what has no seeds has no error of this kind."""
    if "seed" not in chosen:
        return "exact"
    values = chosen["value"].to_numpy(float)
    return f"{values.std(ddof=1) / len(values) ** 0.5:.2g}" if len(values) > 1 else "one run"


def _range(rows: list[pd.DataFrame], column: str) -> str:
    values = sorted({float(value) for chosen in rows if column in chosen for value in chosen[column]})
    return " to ".join(f"{value:.3g}" for value in dict.fromkeys(values[:1] + values[-1:]))


def _obstacle(claim: Claim, rows: list[pd.DataFrame]) -> str | None:
    """Why the metrics at hand say nothing about the claim, if so."""
    for selection, chosen in zip(claim.values, rows, strict=True):
        if chosen.empty:
            wanted = ", ".join(f"{key} {value}" for key, value in selection.where.items())
            return f"{selection.experiment} was not run for {wanted or selection.metric} at this scale"
        if chosen.get("standin", pd.Series(dtype=bool)).any():
            return f"{selection.experiment} was run on stand-in data at this scale"
    return None
