"""The report: one page that needs nothing else, with every figure and every claim."""

import base64
import json
from argparse import Namespace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from browser import CHROMIUM, PHONE, look
from pipeline.plan import Plan
from pipeline.report.contents import contents
from pipeline.report.webpage import Page
from pipeline.scorecard.score import score
from pipeline.settings.claim import Doubts
from pipeline.settings.yaml import parse, read
from pipeline.stages import report

ROOT = Path(__file__).parents[2]
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
FIGURES = [{"name": "f", "caption": "x < y."}]
EXPERIMENT = {"name": "one", "title": "Accuracy", "where": "Fig. 1", "figures": FIGURES}
PAPERS = [{"name": "dpvi", "title": "A & B", "experiments": [EXPERIMENT]}]
ROW = {
    "paper": "dpvi", "where": "Fig. 1", "published": "0.5", "ours": "0.4", "eps_paper": "", "eps_sound": "",
    "reason": "", "experiments": "one", "scale": "laptop", "kind": "computed",
    "standard_error": "0.02",
}  # fmt: skip
CARD = pd.DataFrame(
    [
        {**ROW, "id": "a", "statement": "It is <high>.", "verdict": "reproduced"},
        {**ROW, "id": "b", "statement": "It is low.", "verdict": "differs", "reason": "Because.", "eps_paper": "1",
         "eps_sound": "2.5"},
        {**ROW, "id": "c", "statement": "A diagram.", "verdict": "not testable here", "experiments": "",
         "kind": "static", "scale": ""},
    ]
)  # fmt: skip
DOUBTS = """
doubts:
  - id: dpvi-1
    title: A `doubt`
    claimed: Much.
    why: It & fails.
    instead: Less.
    claims: [b]
    figures: [f, absent]
"""


class Seen(HTMLParser):
    """What a page shows, links to and asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.sources: list[str] = []
        self.links: list[str] = []
        self.all_ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        if tag not in ("meta", "img"):
            self.open.append(tag)
        self.sources += [value for name, value in attrs if name in ("src", "srcset") and value]
        self.links += [value for name, value in attrs if name == "href" and value]
        self.all_ids += [own["id"] or ""] if "id" in own else []

    @property
    def ids(self) -> set[str]:
        return set(self.all_ids)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    (tmp_path / "f.png").write_bytes(PIXEL)
    CARD.to_csv(tmp_path / "card.csv", index=False)
    (tmp_path / "doubts.yaml").write_text(DOUBTS)
    report.main(
        Namespace(
            papers=json.dumps(PAPERS), scorecard=tmp_path / "card.csv", doubts=tmp_path / "doubts.yaml",
            figures=[tmp_path / "f.png"], output=tmp_path / "report.html", code="none",
        )
    )  # fmt: skip
    return tmp_path / "report.html"


@pytest.fixture
def seen(written: Path) -> Seen:
    reader = Seen()
    reader.feed(written.read_text(encoding="utf-8"))
    return reader


def test_the_page_is_whole_and_needs_nothing_else(seen: Seen) -> None:
    assert seen.open == []
    assert len(seen.sources) == 1
    assert base64.b64decode(seen.sources[0].removeprefix("data:image/png;base64,")) == PIXEL
    assert seen.links
    assert all(link.startswith("#") and link[1:] in seen.ids for link in seen.links)


def test_every_claim_is_there_once_with_its_verdict_and_reason(seen: Seen) -> None:
    text = " ".join(seen.text)
    for statement in ("It is <high>.", "It is low.", "A diagram."):
        assert text.count(statement) == 1
    assert "Because." in text
    assert "x < y." in text
    assert "A & B" in text


def test_the_start_counts_verdicts_and_the_end_compares_epsilons(seen: Seen) -> None:
    summary = "".join(seen.text).partition("not testable herestatic")[2]
    assert summary.startswith("dpvi1101")
    accounting = "".join(seen.text).rpartition("claimedsound")[2]
    assert accounting.strip() == "b12.5"


def test_a_figure_says_what_is_plotted_claimed_and_found(seen: Seen) -> None:
    text = "".join(seen.text)
    plotted, claimed, found = text.index("x < y."), text.index("It is <high>."), text.index("We find: 0.4")
    assert plotted < claimed < found
    assert "We find: 0.4 (standard error 0.02), reproduced." in text
    assert "epsilon 1 claimed, 2.5 sound" in text
    assert text.index("Nothing to compute") < text.index("A diagram.")


def test_a_doubt_and_what_it_touches_link_to_each_other(seen: Seen) -> None:
    assert {"doubt-dpvi-1", "claim-b", "f"} <= seen.ids
    assert seen.links.count("#doubt-dpvi-1") == 1
    assert "#f" in seen.links
    assert "#absent" not in seen.links
    assert "It & fails." in "".join(seen.text)


def test_the_page_of_everything_has_every_claim_figure_and_doubt_once() -> None:
    plan = Plan({}, ROOT)
    rows = [{"paper": paper, **score(claim, {})} for paper, own in plan.claims.items() for claim in own.claims]
    card = pd.DataFrame(rows).fillna("")
    doubts: Doubts = parse(Doubts, read(ROOT / "config/doubts.yaml"), "doubts")
    pictures = dict.fromkeys(plan.figures(), ROOT / "docs/index.md")
    reader = Seen()
    reader.feed("\n".join(Page(json.loads(contents(plan)), card, pictures, doubts).lines()))
    assert reader.open == []
    assert len(reader.all_ids) == len(reader.ids)
    assert {link[1:] for link in reader.links} <= reader.ids
    assert {f"claim-{claim}" for claim in card["id"]} <= reader.ids
    assert {f"doubt-{doubt.id}" for doubt in doubts.doubts} <= reader.ids
    assert set(plan.figures()) <= reader.ids
    assert "\n".join(reader.text).count("What is plotted.") == len(plan.figures())


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_a_browser_shows_it_offline_on_a_phone(written: Path, tmp_path: Path) -> None:
    told = look(written, tmp_path)
    assert told.pop("width") <= PHONE
    assert told == {"images": 1, "missing": 0, "dead": [], "errors": []}
