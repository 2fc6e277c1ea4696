"""Generated digits, for each epsilon and without privacy."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.style import COLUMN_WIDTH


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw a square of images for each; the paper's are a picture without numbers."""
    del published
    pixels = metrics[(metrics["metric"] == "digits") & (metrics["seed"] == 0)]
    epsilons = sorted(pixels["epsilon"].unique())
    figure, axes = plt.subplots(1, len(epsilons), figsize=(2 * COLUMN_WIDTH, 2.0), squeeze=False)
    for panel, epsilon in zip(axes[0], epsilons, strict=True):
        own = pixels[pixels["epsilon"] == epsilon].sort_values(["image", "row", "column"])
        panel.imshow(_square(own), cmap="gray", vmin=0, vmax=255)
        panel.set_axis_off()
        panel.set_title("not private" if np.isinf(epsilon) else rf"$\varepsilon$ = {epsilon:g}")
    return figure


def _square(pixels: pd.DataFrame) -> np.ndarray:
    """The images side by side."""
    count, height, width = (int(pixels[column].max()) + 1 for column in ("image", "row", "column"))
    side = int(np.sqrt(count))
    images = pixels["value"].to_numpy().reshape(side, side, height, width)
    return images.transpose(0, 2, 1, 3).reshape(side * height, side * width)
