"""Hold every claim of the papers against the metrics: reproduced, differs, or not testable here."""

import argparse
import logging
from pathlib import Path
from typing import Any

import pandas as pd

from dpinfer.atomic import replacing
from pipeline.provenance import Stamp
from pipeline.scorecard.card import page, unexplained
from pipeline.scorecard.score import score
from pipeline.settings.claim import Claims
from pipeline.settings.yaml import parse, read

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline scorecard`."""
    parser.add_argument("--claims", nargs="+", type=Path, required=True, help="claims of each paper, as YAML")
    parser.add_argument("--tables", nargs="*", type=Path, default=[], help="published tables, as CSV, by paper")
    parser.add_argument("--metrics", nargs="+", type=Path, required=True, help="the .csv of each experiment")
    parser.add_argument(
        "--output", type=Path, required=True, help="the .csv to write; .md and .json stand beside it"
    )
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Write one row for each claim."""
    stamp = Stamp(arguments.code)
    metrics = {path.stem: pd.read_csv(path, low_memory=False) for path in arguments.metrics}
    rows: list[dict[str, Any]] = []
    titles: dict[str, str] = {}
    for path in arguments.claims:
        stated = parse(Claims, read(path), path)
        titles[path.stem] = stated.title
        tables = {table.stem: pd.read_csv(table) for table in arguments.tables if table.parent.name == path.stem}
        rows += [{"paper": path.stem, **score(claim, metrics, tables)} for claim in stated.claims]
    card = pd.DataFrame(rows)
    for claim in unexplained(card):
        log.warning("%s differs, and its entry gives no reason", claim)
    with replacing(arguments.output) as temporary:
        card.to_csv(temporary, index=False)
    with replacing(arguments.output.with_suffix(".md")) as temporary:
        temporary.write_text(page(card, titles), encoding="utf-8")
    stamp.write(arguments.output.with_suffix(".json"), verdicts=card["verdict"].value_counts().to_dict())
