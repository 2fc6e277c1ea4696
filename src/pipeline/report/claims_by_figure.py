"""Which claims stand beside which figure, in the report and in the gallery."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd


class Beside(NamedTuple):
    """The claims about an experiment, by where they are shown.

    Attributes:
        figures: Those about each figure, by its name.
        others: Those about the experiment alone.
    """

    figures: dict[str, pd.DataFrame]
    others: pd.DataFrame


def beside(figures: Sequence[str], claims: pd.DataFrame) -> Beside:
    """Give each claim to the figure that its id or its place in the paper names; an only figure gets all.

    Args:
        figures: The figures of an experiment.
        claims: Rows of the scorecard about that experiment.
    """
    chosen = pd.Series(
        [_figure(figures, claim, where) for claim, where in zip(claims["id"], claims["where"], strict=True)],
        index=claims.index,
        dtype=object,
    )
    return Beside({name: claims[chosen == name] for name in figures}, claims[chosen.isna()])


def about(experiment: str, figures: Sequence[str], card: pd.DataFrame) -> pd.DataFrame:
    """The rows of a scorecard that an experiment enters, or whose id names one of its figures."""
    enters = [experiment in names.split(", ") for names in card["experiments"]]
    names = [any(f"{claim}_".startswith(f"{figure}_") for figure in figures) for claim in card["id"]]
    return card[pd.Series(enters, card.index, bool) | pd.Series(names, card.index, bool)]


def _figure(figures: Sequence[str], claim: str, where: str) -> str | None:
    if len(figures) == 1:
        return figures[0]
    # "Fig. 4.2a" of the text is fig4_2a in names.
    places = ["fig" + place.replace(".", "_") for place in re.findall(r"Fig\. (\d[\d.]*[a-z]?)", where)]
    by_id = [name for name in figures if f"{claim}_".startswith(f"{name}_")]
    by_place = [name for name in figures for place in places if f"{name}_".endswith(f"_{place}_")]
    return max(by_id, key=len, default=by_place[0] if by_place else None)
