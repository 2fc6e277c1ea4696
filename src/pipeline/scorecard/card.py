"""The scorecard as a whole: its counts, its page, and what in it lacks an explanation."""

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from pipeline.scorecard.score import COMPUTED, DIFFERS, NOT_TESTABLE, REPRODUCED, STATIC

VERDICTS = (REPRODUCED, DIFFERS, NOT_TESTABLE)
COLUMNS = (*VERDICTS, STATIC)
BAR = r"\|"
"""A bar that ends no cell."""
SMOKE = "At smoke scale verdicts mean nothing: they show that everything can be computed."


def counts(card: pd.DataFrame) -> pd.DataFrame:
    """How many claims of each paper have which verdict; what is static counts apart."""
    shown = card["verdict"].where(card["kind"] == COMPUTED, STATIC)
    table = pd.crosstab(card["paper"], shown).reindex(columns=COLUMNS, fill_value=0)
    return table.rename_axis(None, axis=1)


def unexplained(card: pd.DataFrame) -> list[str]:
    """Claims that differ without a reason why, where the scale is one at which verdicts mean something."""
    bare = (card["verdict"] == DIFFERS) & (_text(card["reason"]) == "")
    return card.loc[bare & ~_text(card["scale"]).str.contains("smoke"), "id"].tolist()


def scales(card: pd.DataFrame) -> str:
    """The scales that claims were judged at."""
    found = {scale for text in _text(card["scale"]) for scale in text.split(", ") if scale}
    return ", ".join(sorted(found)) or "no"


def told(card: pd.DataFrame) -> str:
    """The counts as plain text, for the end of a run."""
    return f"Scorecard at {scales(card)} scale:\n{counts(card).to_string()}"


def page(card: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """The scorecard as Markdown: counts first, then a table for each paper.

    Args:
        card: One row for each claim.
        titles: The title of each paper by its name, in the order in which they are shown.
    """
    return "\n".join(_lines(card, titles)) + "\n"


def _lines(card: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[str]:
    yield "# Scorecard\n"
    yield f"What the papers state, held against what was computed here, at {scales(card)} scale.\n"
    if "smoke" in scales(card):
        yield f"**{SMOKE}**\n"
    yield f"{counts(card).to_markdown()}\n"
    for paper, title in titles.items():
        own = card[card["paper"] == paper].drop(columns=["paper", "experiments"])
        for kind, heading in ((COMPUTED, title), (STATIC, f"{title}: nothing to compute")):
            part = own[own["kind"] == kind].drop(columns="kind").apply(_text)
            if not part.empty:
                yield f"## {heading}\n"
                yield _row(part.columns)
                yield _row("---" for _ in part.columns)
                yield from (_row(row) for row in part.to_numpy())
                yield ""


def _row(cells: Iterable[str]) -> str:
    """A row of a table; to_markdown would fill every cell up to the longest, and round numbers its own way."""
    return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def _text(column: pd.Series) -> pd.Series:
    """A column of words, empty where there are none."""
    return column.astype(object).where(column.notna(), "").astype(str)
