"""One look for every figure: that of the library, and what the figures of papers have besides."""

from matplotlib.axes import Axes

from dpinfer.look import COLUMN_WIDTH, apply, label

__all__ = ["COLUMN_WIDTH", "PUBLISHED", "apply", "label", "legend_above"]

PUBLISHED = "black"
"""The paper's own values have the same colour in every figure."""


def legend_above(axes: Axes, ncols: int = 1) -> None:
    """Put the legend above the axes, where it hides nothing."""
    axes.legend(ncols=ncols, loc="lower center", bbox_to_anchor=(0.45, 1.0))
