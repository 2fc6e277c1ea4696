"""Write one page, with nothing outside of it: the scorecard, and every figure with what is claimed and found."""

import argparse
import base64
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from dpinfer.atomic import from_json, replacing
from dpinfer.provenance import Stamp
from dpinfer.score import DIFFERS, NOT_TESTABLE, REPRODUCED

VERDICTS = (REPRODUCED, DIFFERS, NOT_TESTABLE)
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; margin: 0 auto; max-width: 60rem; padding: 0 1rem 4rem; }
h1, h2, h3 { line-height: 1.2; } h2 { border-top: 3px solid #222; padding-top: 1rem; margin-top: 3rem; }
nav a { margin-right: 1rem; white-space: nowrap; } figure { margin: 1.5rem 0; }
figure img { max-width: 100%; height: auto; display: block; } figcaption { font-size: .9rem; color: #444; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }
.reproduced { color: #0a6b4f; } .differs { color: #a23b00; } .not { color: #666; }
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer report`."""
    parser.add_argument("papers", help="papers, their experiments and figures, as JSON")
    parser.add_argument("--scorecard", type=Path, required=True, help="the scorecard's .csv")
    parser.add_argument("--figures", nargs="*", type=Path, default=[], help="the .png of each figure")
    parser.add_argument("--output", type=Path, required=True, help="the .html to write; a .json stands beside it")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write the page, all or nothing."""
    stamp = Stamp(arguments.code)
    papers = from_json(arguments.papers)
    card = pd.read_csv(arguments.scorecard, dtype=str).fillna("")
    figures = {path.stem: path for path in arguments.figures}
    with replacing(arguments.output) as temporary:
        temporary.write_text("\n".join(page(papers, card, figures)), encoding="utf-8")
    stamp.write(arguments.output.with_suffix(".json"), papers=[paper["name"] for paper in papers])


def page(papers: Sequence[dict[str, Any]], card: pd.DataFrame, figures: Mapping[str, Path]) -> Iterator[str]:
    """The lines of the page."""
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>dpinfer</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{STYLE}</style></head><body>"
    yield "<h1>What five papers claim, recomputed</h1>"
    names = [*(paper["name"] for paper in papers), "accounting"]
    links = [f'<a href="#{name}">{escape(name)}</a>' for name in names]
    yield f"<nav>{' '.join(links)}</nav>"
    yield _summary(papers, card)
    for paper in papers:
        own = card[card["paper"] == paper["name"]]
        yield f'<section id="{paper["name"]}"><h2>{escape(paper["title"])}</h2>'
        told: set[str] = set()
        for experiment in paper["experiments"]:
            about = own[[experiment["name"] in names.split(", ") for names in own["experiments"]]]
            told |= set(about["id"])
            yield from _experiment(experiment, about, figures)
        rest = own[~own["id"].isin(told)]
        if not rest.empty:
            yield f"<h3>Not computed</h3>{_claims(rest)}"
        yield "</section>"
    yield from _accounting(card)
    yield "</body></html>"


def _summary(papers: Sequence[dict[str, Any]], card: pd.DataFrame) -> str:
    """How many claims of each paper hold."""
    head = "".join(f"<th>{verdict}</th>" for verdict in VERDICTS)
    rows = "".join(
        f'<tr><td><a href="#{paper["name"]}">{escape(paper["title"])}</a></td>'
        + "".join(
            f"<td>{((card['paper'] == paper['name']) & (card['verdict'] == verdict)).sum()}</td>"
            for verdict in VERDICTS
        )
        + "</tr>"
        for paper in papers
    )
    return f'<div class="scroll"><table><tr><th>paper</th>{head}</tr>{rows}</table></div>'


def _experiment(experiment: dict[str, Any], claims: pd.DataFrame, figures: Mapping[str, Path]) -> Iterator[str]:
    """Its figures, each with what is plotted, and what the paper and we find."""
    yield f"<h3>{escape(experiment['title'])} ({escape(experiment['where'])})</h3>"
    for figure in experiment["figures"]:
        image = base64.b64encode(figures[figure["name"]].read_bytes()).decode()
        caption = escape(figure["caption"])
        yield (
            f'<figure id="{figure["name"]}"><img alt="{caption}" src="data:image/png;base64,{image}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    if not claims.empty:
        yield _claims(claims)


def _claims(claims: pd.DataFrame) -> str:
    """What is claimed, what is found, and why they differ."""
    rows = "".join(
        f"<tr><td>{escape(row['where'])}: {escape(row['statement'])}</td>"
        f"<td>{escape(row['published'])}</td><td>{escape(row['ours'])}</td>"
        f'<td class="{row["verdict"].split()[0]}">{escape(row["verdict"])}</td>'
        f"<td>{escape(row['reason'])}</td></tr>"
        for row in claims.to_dict("records")
    )
    head = "".join(f"<th>{name}</th>" for name in ("the paper says", "published", "we find", "verdict", "why"))
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _accounting(card: pd.DataFrame) -> Iterator[str]:
    """Where the epsilon that a paper claims is not the one that holds for what was run."""
    yield '<section id="accounting"><h2>Claimed and sound epsilons</h2>'
    yield (
        "<p>The first is by the paper's own account; the second bounds what the runs behind a claim reveal, for "
        "the sampler that they used. It is infinite where there is no guarantee, and for runs without privacy.</p>"
    )
    both = card[(card["eps_paper"] != "") & (card["eps_paper"] != card["eps_sound"])]
    rows = "".join(
        f"<tr><td>{escape(row['id'])}</td><td>{escape(row['eps_paper'])}</td><td>{escape(row['eps_sound'])}</td></tr>"
        for row in both.to_dict("records")
    )
    yield f'<div class="scroll"><table><tr><th>claim</th><th>claimed</th><th>sound</th></tr>{rows}</table></div>'
    yield "</section>"
