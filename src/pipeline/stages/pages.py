"""Write the pages of the documentation that are made from code and config: doubts and reference."""

import argparse
from pathlib import Path

from dpinfer.atomic import replacing
from pipeline.report import reference, soundness
from pipeline.settings.claim import Claims
from pipeline.settings.doubt import Doubts
from pipeline.settings.yaml import parse, read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer pages`."""
    parser.add_argument("--config", type=Path, default=Path("config"), help="folder (default: %(default)s)")
    parser.add_argument("--output", type=Path, required=True, help="folder to write the pages into")


def main(arguments: argparse.Namespace) -> None:
    """Write every page."""
    for name, text in pages(arguments.config).items():
        with replacing(arguments.output / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def pages(config: Path) -> dict[str, str]:
    """The text of each page by the name of its file."""
    path = config / "doubts.yaml"
    doubts = parse(Doubts, read(path), path)
    claims = {own.stem: parse(Claims, read(own), own) for own in sorted((config / "claims").glob("*.yaml"))}
    titles = {paper: stated.title for paper, stated in claims.items()}
    return {"soundness.md": soundness.page(doubts, titles), "reference.md": reference.page()}
