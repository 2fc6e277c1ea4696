import re

import pandas as pd
import pytest

from pipeline.scorecard.card import counts, page, told, unexplained

ROW = {
    "paper": "p", "id": "a", "kind": "computed", "where": "Fig. 1", "statement": "It | is.", "published": "0.50",
    "ours": "0.4", "standard_error": "0.01", "verdict": "reproduced", "reason": None, "eps_paper": "1",
    "eps_sound": "inf", "experiments": "e", "scale": "laptop",
}  # fmt: skip
CARD = pd.DataFrame(
    [
        ROW,
        {**ROW, "id": "b", "verdict": "differs", "reason": "Because."},
        {**ROW, "id": "c", "verdict": "not testable here", "kind": "static", "reason": "A diagram.", "scale": ""},
        {**ROW, "id": "d", "paper": "o", "verdict": "not testable here", "reason": "Not run.", "scale": ""},
    ]
)


def test_counts_keep_what_is_static_apart() -> None:
    table = counts(CARD)
    assert table.columns.tolist() == ["reproduced", "differs", "not testable here", "static"]
    assert list(table.loc["p"]) == [1, 1, 0, 1]
    assert list(table.loc["o"]) == [0, 0, 1, 0]
    assert "Scorecard at laptop scale" in told(CARD)


@pytest.mark.parametrize("empty", [None, "", float("nan")])
def test_what_differs_without_a_reason_is_found_where_verdicts_count(empty: float | str | None) -> None:
    bare = CARD.assign(reason=empty)
    assert unexplained(CARD) == []
    assert unexplained(bare) == ["b"]
    assert unexplained(bare.assign(scale="smoke")) == []


def test_the_page_counts_first_and_shows_every_claim_with_all_about_it() -> None:
    text = page(CARD, {"p": "Paper P", "o": "Paper O"})
    assert text.index("| p ") < text.index("## Paper P") < text.index("## Paper P: nothing to compute")
    row = next(line for line in text.splitlines() if line.startswith("| b "))
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
    assert cells == [
        "b", "Fig. 1", r"It \| is.", "0.50", "0.4", "0.01", "differs", "Because.", "1", "inf", "laptop",
    ]  # fmt: skip
    assert "mean nothing" not in text
    assert "mean nothing" in page(CARD.assign(scale="smoke"), {"p": "Paper P"})
