"""The predictive density that DPVI learns from five clusters, its components and the true ones."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.plots.clusters import contours


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw the released code beside the corrected run."""
    del published  # the two log-likelihoods of the caption are in the claims
    return contours(metrics, {"code": "as coded", "corrected": "corrected"})
