"""Write one page, with nothing outside of it: the scorecard, and every figure with what is claimed and found."""

import argparse
from pathlib import Path

import pandas as pd

from dpinfer.atomic import from_json, replacing
from pipeline.provenance import Stamp
from pipeline.report.webpage import Page
from pipeline.settings.claim import Doubts
from pipeline.settings.yaml import parse, read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline report`."""
    parser.add_argument("papers", help="papers, their experiments and figures, as JSON")
    parser.add_argument("--scorecard", type=Path, required=True, help="the scorecard's .csv")
    parser.add_argument("--doubts", type=Path, required=True, help="the doubts, as YAML")
    parser.add_argument("--figures", nargs="*", type=Path, default=[], help="the .png of each figure")
    parser.add_argument("--output", type=Path, required=True, help="the .html to write; a .json stands beside it")
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write the page, all or nothing."""
    stamp = Stamp(arguments.code)
    papers = from_json(arguments.papers)
    card = pd.read_csv(arguments.scorecard, dtype=str).fillna("")
    doubts = parse(Doubts, read(arguments.doubts), arguments.doubts)
    page = Page(papers, card, {path.stem: path for path in arguments.figures}, doubts)
    with replacing(arguments.output) as temporary:
        temporary.write_text("\n".join(page.lines()), encoding="utf-8")
    stamp.write(arguments.output.with_suffix(".json"), papers=[paper["name"] for paper in papers])
