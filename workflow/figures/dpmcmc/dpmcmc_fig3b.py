"""Error of the running posterior variance against epsilon: DP-MCMC and DP-SGLD."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.chains import errors


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the chains of the paper, and DP-SGLD with the noise of Langevin dynamics."""
    figure = errors(metrics, published, "variance", {"mcmc": 1.22, "sgld": 1.22, "sgld_corrected": 1.22})
    # With more noise, DP-SGLD has ended where the other curves begin.
    figure.axes[-1].set_xlim(0.3, 1.24)
    return figure
