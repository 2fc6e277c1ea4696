"""Log density of the correction by a Gaussian mixture, for four variances of the normal part."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.chains import log_densities


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one panel for each variance."""
    del published  # the supplement prints no numbers
    return log_densities(metrics, "mixture")
