"""The gallery's page: every figure beside what its paper says and what we find."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from pipeline.report.claims_by_figure import about, beside
from pipeline.scorecard.card import SMOKE, counts, scales
from pipeline.scorecard.score import DIFFERS

MOST = 5
"""So many claims stand beside a picture."""
WIDTH = 420
"""Pixels across a picture on the page."""


def page(papers: Sequence[dict[str, Any]], card: pd.DataFrame, version: str) -> str:
    """The page as Markdown.

    Args:
        papers: Papers with their experiments and figures, as `pipeline.report.contents` gives them.
        card: The scorecard, all of it words.
        version: What computed it.
    """
    return "\n".join(_lines(papers, card, version))


def _lines(papers: Sequence[dict[str, Any]], card: pd.DataFrame, version: str) -> Iterator[str]:
    yield "# Gallery\n"
    yield "<!-- Written by `make gallery`. -->\n"
    yield f"Computed at {scales(card)} scale by {version}. [All claims](scorecard.csv), with what each rests on.\n"
    if "smoke" in scales(card):
        yield f"**{SMOKE}**\n"
    yield f"{counts(card).to_markdown()}\n"
    for paper in papers:
        drawn = [experiment for experiment in paper["experiments"] if experiment["figures"]]
        if drawn:
            yield f"## {paper['title']}\n"
        for experiment in drawn:
            yield from _experiment(experiment, card)


def _experiment(experiment: dict[str, Any], card: pd.DataFrame) -> Iterator[str]:
    captions = {figure["name"]: figure["caption"] for figure in experiment["figures"]}
    shown = beside(list(captions), about(experiment["name"], list(captions), card))
    for name, caption in captions.items():
        yield f"### {name}\n"
        yield f"{_cell(experiment['title'])} ({_cell(experiment['where'])}). {_cell(caption)}\n"
        own = shown.figures[name]
        # A figure that no claim names alone stands beside those of its experiment.
        told = "<br><br>".join(_claims(shown.others if own.empty else own))
        yield "| our figure | the paper says, and we find |"
        yield "|---|---|"
        yield f'| <img src="{name}.png" width="{WIDTH}" alt="{name}"> | {told or "Nothing is claimed of it."} |\n'


def _claims(claims: pd.DataFrame) -> Iterator[str]:
    """A few, those that differ first, and how the others fare: a long column would not be beside the picture."""
    ordered = claims.sort_values("verdict", key=lambda verdict: verdict != DIFFERS, kind="stable")
    yield from (_claim(row) for row in ordered.head(MOST).to_dict("records"))
    others = ordered.iloc[MOST:]["verdict"].value_counts()
    if not others.empty:
        fare = ", ".join(f"{count} {verdict}" for verdict, count in others.items())
        yield f"And {others.sum()} more: {fare}"


def _claim(row: Mapping[Any, Any]) -> str:
    asked = f" ({_cell(row['published'])})" if row["published"] else ""
    error = f" ± {row['standard_error']}" if row["standard_error"][:1].isdigit() and "," not in row["ours"] else ""
    found = f"{_cell(row['ours'])}{error}, " if row["ours"] else ""
    return f"{_cell(row['where'])}: {_cell(row['statement'])}{asked}<br>We: {found}**{row['verdict']}**"


def _cell(text: str) -> str:
    """A text that may stand in a cell of a table."""
    return " ".join(text.split()).replace("|", r"\|")
