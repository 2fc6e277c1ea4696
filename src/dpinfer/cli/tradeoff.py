"""The picture of `advise`: epsilon against noise, one line for each number of steps."""

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from dpinfer import look
from dpinfer.atomic import replacing
from dpinfer.errors import InputError

SUFFIXES = (".png", ".pdf", ".svg")


def check_writable(path: Path) -> None:
    """Refuse a path at which no picture can be written, before any work is done."""
    if path.suffix not in SUFFIXES:
        raise InputError(f"--plot is {path}, but its name must end in {', '.join(SUFFIXES)}.")
    if path.is_dir():
        raise InputError(f"--plot is {path}, but that is a folder.")
    try:
        # Permission bits do not tell of read-only or special file systems: a trial does.
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError:
        raise InputError(f"--plot is {path}, but {path.parent} is no folder that can be written to.") from None


def save(path: Path, rows: list[dict[str, Any]], title: str) -> None:
    """Draw the rows of `advise.epsilons` and write the picture."""
    look.apply()
    figure = draw(pd.DataFrame(rows))
    look.label(figure, title)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=200)


def draw(table: pd.DataFrame) -> Figure:
    """Return a figure of column width with both axes logarithmic."""
    figure = Figure(figsize=(look.COLUMN_WIDTH, 0.8 * look.COLUMN_WIDTH))
    axes = figure.add_subplot()
    for (num_steps, line), marker in zip(table.groupby("num_steps"), "os^", strict=False):
        axes.plot(line["noise_multiplier"], line["epsilon"], marker=marker, label=f"{num_steps} steps")
    axes.set(xscale="log", yscale="log", xlabel="noise multiplier", ylabel="epsilon")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.legend()
    return figure
