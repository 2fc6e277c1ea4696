"""Judge one claim by the metrics that it names."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpinfer.errors import InputError
from pipeline.scorecard.estimate import NO_SEEDS, ONE_RUN, Estimate, estimate, parts, select
from pipeline.settings.claim import Claim, Selection

RESERVED = {"value", "sem", "tolerance"}
ERRORS = 3
"""How many standard errors a difference may have, where the paper states its own."""
REPRODUCED, DIFFERS, NOT_TESTABLE = "reproduced", "differs", "not testable here"
COMPUTED, STATIC = "computed", "static"


class Comparison(NamedTuple):
    """How many rows of a table are met.

    Attributes:
        share: Of all rows, how many ours meet; None where some was not run.
        shown: The same in words, with the largest difference.
    """

    share: float | None
    shown: str


def compare(claim: Claim, chosen: pd.DataFrame, published: pd.DataFrame) -> Comparison:
    """Compare each published value with the mean of the rows of metrics that agree with its other columns.

    A row is met within the claim's tolerance, its own `tolerance`, or three standard errors of both means, where
    it has a `sem`: whichever is largest.

    Args:
        claim: Its one selection says which rows of the table count, and which column of the metrics is meant.
        chosen: Rows of the metrics that the selection selects.
        published: The table.
    """
    (selection,) = claim.values
    places = [column for column in published if column not in RESERVED]
    for column in set(places) - set(chosen):
        raise InputError(f"the table of the claim {claim.id} has a column {column}, which the metrics do not have")
    for column, wanted in selection.where.items():
        if column in published:
            published = published[published[column] == wanted]
    ours = chosen.groupby(places)[selection.of].agg(["mean", "sem"]).reset_index()
    both = published.merge(ours, on=places, how="left", suffixes=("", "_ours"))
    if both["mean"].isna().any():
        return Comparison(None, "")
    difference = (both["mean"] - both["value"]).abs()
    errors = np.hypot(both["sem"], both["sem_ours"]) if "sem" in published else pd.Series(0.0, both.index)
    own = both["tolerance"] if "tolerance" in both else pd.Series(0.0, both.index)
    allowed = pd.concat([own, ERRORS * errors], axis=1).max(axis=1).clip(lower=claim.tolerance)
    met = difference <= allowed
    return Comparison(
        float(met.mean()), f"{met.sum()} of {len(met)} values met, largest difference {difference.max():.3g}"
    )


class Finding(NamedTuple):
    """What the metrics say of a claim.

    Attributes:
        ours: The values of the claim, in order; none where it cannot be tested.
        margins: By how much each value exceeds the one before, at every place that both have.
        shown: The same in words.
        error: Its standard error in words.
        obstacle: Why it cannot be tested, or None.
    """

    ours: tuple[float, ...] = ()
    margins: pd.Series = pd.Series(dtype=float)
    shown: str = ""
    error: str = ""
    obstacle: str | None = None


def score(
    claim: Claim, metrics: Mapping[str, pd.DataFrame], tables: Mapping[str, pd.DataFrame] | None = None
) -> dict[str, Any]:
    """Return the claim's row of the scorecard.

    Args:
        claim: What is claimed and how it is computed.
        metrics: Metrics by experiment; a claim about a cell that was not run is not testable.
        tables: The paper's published tables by name.
    """
    selections = [part for value in claim.values for part in parts(value)]
    rows = [select(selection, metrics) for selection in selections]
    scales = sorted({scale for chosen in rows if not chosen.empty for scale in chosen["scale"]})
    obstacle = _obstacle(selections, rows)
    if obstacle:
        rows, found = [], Finding(obstacle=obstacle)
    elif claim.table is not None:
        found = _met(claim, rows[0], (tables or {})[claim.table])
    else:
        found = _found(claim, [estimate(value, metrics, claim.along) for value in claim.values])
    return {
        "id": claim.id,
        "kind": STATIC if claim.static else COMPUTED,
        "where": claim.where,
        "statement": claim.statement,
        "published": _published(claim),
        "ours": found.shown,
        "standard_error": found.error,
        "verdict": verdict(claim, found.ours, found.margins),
        "reason": found.obstacle or claim.reason,
        "eps_paper": _range(rows, "eps_paper"),
        "eps_sound": _range(rows, "eps_sound"),
        "experiments": ", ".join(sorted({selection.experiment for selection in selections})),
        "scale": ", ".join(scales),
    }


def verdict(claim: Claim, ours: tuple[float, ...], margins: pd.Series) -> str:
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


def _found(claim: Claim, estimates: list[Estimate]) -> Finding:
    """What values, or curves, come to."""
    steps = [after.minus(before) for before, after in pairwise(estimates)]
    # A place that one of two curves does not have says nothing about their order.
    margins = pd.concat([pd.Series(dtype=float), *(step.value for step in steps)]).dropna()
    if steps and margins.empty:
        return Finding(obstacle=f"the curves share no value of {claim.along}")
    ours = tuple(float(own.value.iloc[0]) for own in estimates)
    if claim.along is None:
        shown = ", ".join(f"{value:.4g}" for value in ours)
        errors = [_error(own, own.value.index[0]) for own in estimates]
        return Finding(ours, margins, shown, ", ".join(dict.fromkeys(errors) if len(set(errors)) == 1 else errors))
    held = (margins > -claim.tolerance).groupby(level=0).all()
    shown = f"holds at {held.sum()} of {len(held)} values of {claim.along}, least margin {margins.min():.3g}"
    least = min((step for step in steps if step.value.notna().any()), key=lambda step: step.value.min())
    return Finding(ours, margins, shown, _error(least, least.value.idxmin()))


def _met(claim: Claim, chosen: pd.DataFrame, published: pd.DataFrame) -> Finding:
    """How many values of a published table are met."""
    share, shown = compare(claim, chosen, published)
    if share is None:
        return Finding(obstacle=f"not all values of {claim.table} were computed at this scale")
    return Finding((share,), shown=shown)


def _error(own: Estimate, place: Any) -> str:
    if own.note == NO_SEEDS:
        return NO_SEEDS
    error = own.error[place]
    return own.note or ONE_RUN if np.isnan(error) else f"{error:.2g}"


def _published(claim: Claim) -> str:
    """What the paper's words ask of ours."""
    if claim.table is not None:
        return f"a table, of which {claim.at_least:.0%} or more"
    bounds = (("", claim.published), ("at least ", claim.at_least), ("at most ", claim.at_most))
    asked = [f"{word}{bound:.6g}" for word, bound in bounds if bound is not None]
    return ", ".join(asked) or ("in rising order" if claim.values else "")


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
