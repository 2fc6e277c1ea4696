"""Draw one figure from metrics, by its own script, and write it as PDF and PNG."""

import argparse
import runpy
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from dpinfer.atomic import replacing
from dpinfer.errors import InputError
from pipeline.plots import style
from pipeline.provenance import Stamp

DPI = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline figure`."""
    parser.add_argument("script", type=Path, help="file with `draw(metrics, published) -> Figure`")
    parser.add_argument(
        "--metrics", nargs="+", type=Path, required=True, help=".csv files, the figure's own first"
    )
    parser.add_argument(
        "--published", nargs="*", type=Path, default=[], help="the paper's values, if there are any"
    )
    parser.add_argument(
        "--output", type=Path, required=True, help="the .pdf to write; .png and .json stand beside it"
    )
    parser.add_argument("--code", default="none", help="digest of the code, for the stamp")


def main(arguments: argparse.Namespace) -> None:
    """Draw, note the scale below the axes, save."""
    stamp = Stamp(arguments.code)
    style.apply()
    # Whole columns at once: pieces of one that is empty in places would be taken for different types.
    metrics = pd.concat([pd.read_csv(path, low_memory=False) for path in arguments.metrics], ignore_index=True)
    published = [pd.read_csv(path) for path in arguments.published]
    draw = runpy.run_path(str(arguments.script)).get("draw")
    if draw is None:
        raise InputError(f"{arguments.script}: the script should define draw(metrics, published)")
    figure = draw(metrics, published[0] if published else None)
    style.label(figure, note(metrics))
    _save(figure, arguments.output)
    stamp.write(
        arguments.output.with_suffix(".json"),
        script=arguments.script.name,
        metrics=[path.stem for path in arguments.metrics],
        note=note(metrics),
    )


def note(metrics: pd.DataFrame) -> str:
    """What a figure or table says of its own making: scale, seeds, and whether the data are a stand-in."""
    if "scale" not in metrics:
        return ""
    scales = ", ".join(sorted(metrics["scale"].unique()))
    if "seed" not in metrics:
        return f"{scales} scale"
    standin = " · synthetic stand-in data" if metrics["standin"].any() else ""
    # Cells of studies beside others have no seeds.
    counts = metrics.groupby(["experiment", "cell"])["seed"].nunique().loc[lambda count: count > 0]
    least, most = counts.min(), counts.max()
    told = f"{most}" if least == most else f"{least} to {most}"
    return f"{scales} scale · {told} seed{'s' if most > 1 else ''}{standin}"


def _save(figure: Figure, path: Path) -> None:
    # Without dates in the files, the same numbers give the same bytes.
    for target, metadata in ((path, {"CreationDate": None}), (path.with_suffix(".png"), {"Software": None})):
        with replacing(target) as temporary:
            figure.savefig(temporary, dpi=DPI, metadata=metadata)
