"""Log-likelihood of test records under the Gaussian mixture, against the epsilon that the paper gives the noise.

The noise levels are those of the original code of DPVI; what they cost by a sound account is `eps_sound` in the
metrics. The original code itself is not among the curves.
"""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from dpinfer.figures.curves import mean_curves, mean_line
from dpinfer.figures.style import COLUMN_WIDTH, legend_above

# For each list of the original code, sigma and the epsilon it stands for.
CONSTANTS = {0.27: 10, 0.34: 3.16, 0.48: 1, 1.05: 0.316, 2.0: 0.1}
ADVANCED = {0.8887: 10, 1.406: 3.16, 2.736: 1, 6.628: 0.316, 18.72: 0.1}
# For each arm its list, its noise in units of sigma, and its name.
CURVES = {
    "constants_sigma": (CONSTANTS, 1, r"constants, noise $\sigma$"),
    "constants_two_sigma": (CONSTANTS, 2, r"constants, noise $2\sigma$"),
    "advanced_sigma": (ADVANCED, 1, r"composition, noise $\sigma$"),
    "advanced_two_sigma": (ADVANCED, 2, r"composition, noise $2\sigma$"),
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each list and reading of the noise, and the runs without privacy as a line."""
    del published  # the paper prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.7))
    mean_curves(axes, pd.concat([_curve(metrics, arm) for arm in CURVES]), x="nominal", hue="curve")
    mean_line(axes, metrics[metrics["arm"] == "exact"], "no privacy")
    axes.set(xscale="log", xlabel=r"$\varepsilon$ as labelled by the original code", ylabel="test log-likelihood")
    legend_above(axes, ncols=2)
    return figure


def _curve(metrics: pd.DataFrame, arm: str) -> pd.DataFrame:
    nominal, factor, name = CURVES[arm]
    chosen = metrics[metrics["arm"] == arm]
    return chosen.assign(nominal=(chosen["noise_multiplier"] / factor).round(4).map(nominal), curve=name)
