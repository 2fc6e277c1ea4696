"""Error of the running posterior variance of DP-MCMC alone against epsilon."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.chains import errors


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the chains from the end of their burn-in on."""
    return errors(metrics, published, "variance", {"mcmc": 1.22})
