"""One look for every figure: column width, readable at print size, safe for colour-blind readers."""

from typing import Any

import matplotlib as mpl
import seaborn as sns
from matplotlib.figure import Figure

COLUMN_WIDTH = 3.4
"""Width of a figure in a two-column paper, in inches."""

SETTINGS: dict[str, Any] = {
    "figure.constrained_layout.use": True,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "legend.frameon": False,
    # TrueType fonts keep the text of a PDF selectable; the default is outlines.
    "pdf.fonttype": 42,
}


def apply() -> None:
    """Set the style for every figure that is drawn afterwards."""
    mpl.use("Agg")
    sns.set_theme(style="ticks", palette="colorblind", rc=SETTINGS)


def label(figure: Figure, text: str) -> None:
    """Write a small line below the axes: what a reader must know of how the figure was made."""
    figure.supxlabel(text, fontsize=5.5, color="0.45", x=0.99, ha="right")
