"""The report as HTML: counts, every figure with what is claimed and found, and the doubts."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from pipeline.scorecard.card import COLUMNS, SMOKE, counts, scales
from pipeline.scorecard.estimate import NO_SEEDS
from pipeline.scorecard.score import COMPUTED, STATIC
from pipeline.settings.claim import GENERAL, Doubt, Doubts

HEAD = """# Soundness: where a guarantee, or the evidence for it, does not hold

<!-- Written by `make docs` from config/doubts.yaml: edit that. -->

The five papers are reproduced as they are, *and* accounted for as they were run. The two disagree in the places
below. Each says what is claimed, why it fails or is open, and what is done here; then the claims
(`results/scorecard.md`) and figures (`results/figures`) that it touches. `results/report.html` links them.
[Which epsilon do I have?](accounting.md) says what the two epsilons of every result are.
"""
COLUMN = 900
"""Pixels beyond which a figure takes more than a column."""
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; margin: 0 auto; max-width: 60rem; padding: 0 1rem 4rem; }
h1, h2, h3, h4 { line-height: 1.2; } h2 { border-top: 3px solid #222; padding-top: 1rem; margin-top: 3rem; }
h3 { margin-top: 2.5rem; } nav a { margin-right: 1rem; white-space: nowrap; } figure { margin: 1.5rem 0; }
figure img { max-width: 100%; height: auto; display: block; } figure img.wide { min-width: 40rem; }
a { color: #0b4f9e; } .scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }
ul.claims { list-style: none; padding: 0; } p { margin: .3rem 0; overflow-wrap: anywhere; }
ul.claims li { border-left: 4px solid #888; padding: .1rem 0 .1rem .8rem; margin: .8rem 0; font-size: .95rem; }
ul.claims li.reproduced { border-color: #0a6b4f; } ul.claims li.differs { border-color: #a23b00; }
.reproduced b { color: #0a6b4f; } .differs b { color: #a23b00; } .small { font-size: .85rem; color: #555; }
:target { background: #fff6d6; }
"""


class ShownClaims(NamedTuple):
    """The claims about an experiment, by where they are shown.

    Attributes:
        figures: Those about each figure, by its name.
        others: Those about the experiment alone.
    """

    figures: dict[str, pd.DataFrame]
    others: pd.DataFrame


def claims_by_figure(figures: Sequence[str], claims: pd.DataFrame) -> ShownClaims:
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
    return ShownClaims({name: claims[chosen == name] for name in figures}, claims[chosen.isna()])


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


def page(doubts: Doubts, titles: Mapping[str, str]) -> str:
    """All doubts as Markdown, by paper.

    Args:
        doubts: The doubts, in the order in which they are shown.
        titles: The title of each paper by its name.
    """
    return "\n".join([HEAD, *_sections(doubts, titles)])


def heading(paper: str, titles: Mapping[str, str]) -> str:
    """What the doubts about a paper stand under."""
    return "All five papers" if paper == GENERAL else titles[paper]


def _sections(doubts: Doubts, titles: Mapping[str, str]) -> Iterator[str]:
    last = None
    for doubt in doubts.doubts:
        if doubt.paper != last:
            yield f"## {heading(doubt.paper, titles)}\n"
        last = doubt.paper
        yield from _section(doubt)


def _section(doubt: Doubt) -> Iterator[str]:
    yield f"### {doubt.id}: {doubt.title}\n"
    yield f"- **Claimed.** {doubt.claimed}"
    yield f"- **Why it fails.** {doubt.why}"
    yield f"- **Here.** {doubt.instead}"
    for kind, names in (("Claims", doubt.claims), ("Figures", doubt.figures)):
        if names:
            yield f"- **{kind}.** {', '.join(f'`{name}`' for name in names)}"
    yield ""


class Page:
    """The page of one run.

    Args:
        papers: Papers with their experiments and figures, as `pipeline.report.contents` gives them.
        card: The scorecard, all of it words.
        figures: The picture of each figure by its name.
        doubts: The doubts, which link to claims and figures.
    """

    def __init__(
        self,
        papers: Sequence[dict[str, Any]],
        card: pd.DataFrame,
        figures: Mapping[str, Path],
        doubts: Doubts,
    ) -> None:
        self.papers, self.card, self.figures, self.doubts = papers, card, figures, doubts
        self.titles = {paper["name"]: paper["title"] for paper in papers}
        self._told: set[str] = set()

    def lines(self) -> Iterator[str]:
        """The page, line by line."""
        self._told = set()
        yield '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>dpinfer</title>'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
        yield f"<style>{STYLE}</style></head><body>"
        yield "<h1>What five papers claim, recomputed</h1>"
        names = [*self.titles, "doubts", "epsilons"]
        yield f"<nav>{' '.join(_link(name, name) for name in names)}</nav>"
        yield from self._summary()
        for paper in self.papers:
            yield from self._paper(paper)
        yield from self._doubts()
        yield from self._epsilons()
        yield "</body></html>"

    def _summary(self) -> Iterator[str]:
        """How many claims of each paper hold."""
        yield f"<p>Computed at {escape(scales(self.card))} scale.</p>"
        if "smoke" in scales(self.card):
            yield f"<p><strong>{SMOKE}</strong></p>"
        head = "".join(f"<th>{name}</th>" for name in ("paper", *COLUMNS))
        table = counts(self.card).reindex(list(self.titles), fill_value=0)
        rows = "".join(
            f"<tr><td>{_link(name, name)}</td>{''.join(f'<td>{count}</td>' for count in table.loc[name])}</tr>"
            for name in self.titles
        )
        yield f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'

    def _paper(self, paper: dict[str, Any]) -> Iterator[str]:
        own = self.card[self.card["paper"] == paper["name"]]
        yield f'<section id="{paper["name"]}"><h2>{escape(paper["title"])}</h2>'
        for experiment in paper["experiments"]:
            yield from self._experiment(experiment, own)
        rest = own[~own["id"].isin(self._told)]
        for kind, title in ((COMPUTED, "Not computed at this scale"), (STATIC, "Nothing to compute")):
            if (rest["kind"] == kind).any():
                yield f"<h3>{title}</h3>{self._claims(rest[rest['kind'] == kind])}"
        yield "</section>"

    def _experiment(self, experiment: dict[str, Any], card: pd.DataFrame) -> Iterator[str]:
        yield f"<h3>{_words(experiment['title'])} ({_words(experiment['where'])})</h3>"
        captions = {figure["name"]: figure["caption"] for figure in experiment["figures"]}
        shown = claims_by_figure(list(captions), about(experiment["name"], list(captions), card))
        for name, caption in captions.items():
            yield f'<figure id="{name}"><div class="scroll">{_image(self.figures[name], caption)}</div>'
            yield f"<figcaption><p><b>What is plotted.</b> {_words(caption)}</p></figcaption></figure>"
            yield self._claims(shown.figures[name])
            if shown.figures[name].empty and shown.others.empty:
                yield '<p class="small">No claim is about this figure alone: it is our own.</p>'
        yield self._claims(shown.others)

    def _claims(self, claims: pd.DataFrame) -> str:
        """What is claimed, what is found, and why they differ; a claim that was shown before is linked."""
        items = "".join(
            f"<li>See above: {_link('claim-' + row['id'], row['id'])}</li>"
            if row["id"] in self._told
            else self._claim(row)
            for row in claims.to_dict("records")
        )
        self._told |= set(claims["id"])
        return f'<ul class="claims">{items}</ul>' if items else ""

    def _claim(self, row: Mapping[Any, Any]) -> str:
        word = "Expected" if row["published"][:1].isalpha() else "Published"
        asked = f" {word}: {escape(row['published'])}." if row["published"] else ""
        word = "standard error " if row["standard_error"][:1].isdigit() else ""
        is_known = row["standard_error"] not in ("", NO_SEEDS)
        error = f" ({word}{escape(row['standard_error'])})" if is_known else ""
        found = f"We find: {escape(row['ours'])}{error}, " if row["ours"] else ""
        why = f" {_words(row['reason'])}" if row["reason"] else ""
        small = [f"epsilon {row['eps_paper']} claimed, {row['eps_sound']} sound"] if row["eps_paper"] else []
        small += [_link(f"doubt-{own.id}", own.id) for own in self.doubts.doubts if row["id"] in own.claims]
        return (
            f'<li id="claim-{row["id"]}" class="{row["verdict"].split()[0]}">'
            f"<p>The paper says ({_words(row['where'])}): {_words(row['statement'])}{asked}</p>"
            f"<p>{found}<b>{escape(row['verdict'])}</b>.{why}</p>"
            f'<p class="small">{" · ".join([escape(row["id"]), *small])}</p></li>'
        )

    def _doubts(self) -> Iterator[str]:
        yield '<section id="doubts"><h2>Where a guarantee, or the evidence for it, does not hold</h2>'
        last = None
        for doubt in self.doubts.doubts:
            if doubt.paper != last:
                yield f"<h3>{escape(heading(doubt.paper, self.titles))}</h3>"
            last = doubt.paper
            yield from self._doubt(doubt)
        yield "</section>"

    def _doubt(self, doubt: Doubt) -> Iterator[str]:
        yield f'<article id="doubt-{doubt.id}"><h4>{doubt.id}: {_words(doubt.title)}</h4>'
        for word, text in (("Claimed", doubt.claimed), ("Why it fails", doubt.why), ("Here", doubt.instead)):
            yield f"<p><b>{word}.</b> {_words(text)}</p>"
        links = [_link(f"claim-{claim}", claim) for claim in doubt.claims if claim in self._told]
        links += [_link(figure, f"figure {figure}") for figure in doubt.figures if figure in self.figures]
        yield f'<p class="small">{" · ".join(links)}</p></article>'

    def _epsilons(self) -> Iterator[str]:
        """Where the epsilon that a paper claims is not the one that holds for what was run."""
        yield '<section id="epsilons"><h2>Claimed and sound epsilons</h2>'
        yield (
            "<p>The first is by the paper's own account; the second bounds what the runs behind a claim reveal, "
            "for the sampler that they used. It is infinite where there is no guarantee, and for runs without "
            "privacy.</p>"
        )
        both = self.card[(self.card["eps_paper"] != "") & (self.card["eps_paper"] != self.card["eps_sound"])]
        rows = "".join(
            f"<tr><td>{_link('claim-' + row['id'], row['id'])}</td><td>{escape(row['eps_paper'])}</td>"
            f"<td>{escape(row['eps_sound'])}</td></tr>"
            for row in both.to_dict("records")
        )
        head = "<tr><th>claim</th><th>claimed</th><th>sound</th></tr>"
        yield f'<div class="scroll"><table>{head}{rows}</table></div></section>'


def _link(target: str, text: str) -> str:
    return f'<a href="#{escape(target)}">{escape(text)}</a>'


def _image(path: Path, caption: str) -> str:
    """A picture within the page; one over two columns would not be legible on a phone, so it is scrolled."""
    content = path.read_bytes()
    # A PNG begins with eight bytes of its own, then length and name of a part that begins with the width.
    kind = ' class="wide"' if int.from_bytes(content[16:20], "big") > COLUMN else ""
    return f'<img{kind} alt="{escape(caption)}" src="data:image/png;base64,{base64.b64encode(content).decode()}">'


def _words(text: str) -> str:
    """A sentence, in which `code` may stand."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(text.split())))
