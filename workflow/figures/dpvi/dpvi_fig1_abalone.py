"""Accuracy on Abalone against epsilon: DPVI and DP-SGLD, by the paper's accounts and by a sound one."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.dpvi import by_accountant


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw both accounts, with the paper's own values in the first."""
    assert published is not None
    return by_accountant(metrics, published, "abalone")
