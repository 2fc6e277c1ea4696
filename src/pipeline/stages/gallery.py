"""Write small pictures of all figures, and a page that shows each beside what is claimed and found."""

import argparse
import shutil
import subprocess
from pathlib import Path

import pandas as pd
from PIL import Image

from dpinfer import __version__
from dpinfer.atomic import from_json, replacing
from pipeline.report.gallery import page

ROOT = Path(__file__).parents[3]
SOURCES = ("src", "workflow", "config", "Snakefile")
"""What figures and verdicts are made by."""
COLUMN, WIDE, COLOURS = 640, 1000, 64
"""Of a small picture: pixels across, for one column and for two, and how many colours lines and letters need."""


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
