"""Write small pictures of all figures, and a page that shows each beside what is claimed and found."""

import argparse
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from dpinfer import __version__
from dpinfer.atomic import from_json, replacing
from pipeline.report.webpage import about, claims_by_figure
from pipeline.scorecard.card import SMOKE, counts, scales
from pipeline.scorecard.score import DIFFERS

MOST = 5
"""So many claims stand beside a picture."""
WIDTH = 420
"""Pixels across a picture on the page."""
ROOT = Path(__file__).parents[3]
SOURCES = ("src", "workflow", "config", "Snakefile")
"""What figures and verdicts are made by."""
COLUMN, WIDE, COLOURS = 640, 1000, 64
"""Of a small picture: pixels across, for one column and for two, and how many colours lines and letters need."""


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
    shown = claims_by_figure(list(captions), about(experiment["name"], list(captions), card))
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline gallery`."""
    parser.add_argument("papers", help="papers, their experiments and figures, as JSON")
    parser.add_argument("--scorecard", type=Path, required=True, help="the scorecard's .csv")
    parser.add_argument("--figures", nargs="*", type=Path, default=[], help="the .png of each figure")
    parser.add_argument("--output", type=Path, required=True, help="the .md to write; pictures stand beside it")
    parser.add_argument("--code", default="none", help="digest of the code, for the page")


def main(arguments: argparse.Namespace) -> None:
    """Write pictures and scorecard first, then the page that shows them."""
    folder: Path = arguments.output.parent
    for path in arguments.figures:
        with replacing(folder / path.name) as temporary:
            shrink(path, temporary)
    with replacing(folder / "scorecard.csv") as temporary:
        shutil.copyfile(arguments.scorecard, temporary)
    kept = {path.name for path in arguments.figures}
    for path in folder.glob("*.png"):
        if path.name not in kept:
            path.unlink()
    card = pd.read_csv(arguments.scorecard, dtype=str).fillna("")
    text = page(from_json(arguments.papers), card, _version(arguments.code))
    with replacing(arguments.output) as temporary:
        temporary.write_text(text, encoding="utf-8")


def shrink(source: Path, target: Path) -> None:
    """Write a picture in small: a page of some fifty should load quickly, and a history not swell."""
    with Image.open(source) as picture:
        width = WIDE if picture.width > WIDE else COLUMN
        size = (width, round(picture.height * width / picture.width))
        flat = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture.convert("RGBA"))
        small = flat.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


def _version(code: str) -> str:
    """The version of the package, and the revision of the checkout where there is one."""
    revision = _git("describe", "--always")
    # Pictures of an earlier run are always about to change; what counts is what they are made by.
    changed = " with changes" if revision and _git("status", "--porcelain", "--", *SOURCES) else ""
    told = f", revision {revision}{changed}" if revision else ""
    return f"dpinfer {__version__}{told}, code {code}"


def _git(*arguments: str) -> str:
    """What git says of the checkout; nothing where there is no git, or no checkout."""
    try:
        asked = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""
