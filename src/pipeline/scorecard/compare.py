"""Hold a whole table of published values against metrics."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from dpinfer.errors import InputError
from pipeline.settings.claim import Claim

RESERVED = {"value", "sem", "tolerance"}
ERRORS = 3
"""How many standard errors a difference may have, where the paper states its own."""


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
