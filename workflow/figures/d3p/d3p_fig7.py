"""Log-likelihood of test records under the Gaussian mixture, against the epsilon that the paper gives the noise.

The noise levels are those of the original code of DPVI, which is run here with its own prior and optimiser
(`dpvi_fig4`); what they cost by a sound account is `eps_sound` in the metrics.
"""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from pipeline.plots.curves import mean_curves, mean_line
from pipeline.plots.style import COLUMN_WIDTH, legend_above

# For each list of the original code, sigma and the epsilon it stands for.
CONSTANTS = {0.27: 10, 0.34: 3.16, 0.48: 1, 1.05: 0.316, 2.0: 0.1}
ADVANCED = {0.8887: 10, 1.406: 3.16, 2.736: 1, 6.628: 0.316, 18.72: 0.1}
# For each arm its list, its noise in units of sigma, and its name.
CURVES = {
    "constants_sigma": (CONSTANTS, 1, r"constants, noise $\sigma$"),
    "constants_two_sigma": (CONSTANTS, 2, r"constants, noise $2\sigma$"),
    "advanced_sigma": (ADVANCED, 1, r"composition, noise $\sigma$"),
    "advanced_two_sigma": (ADVANCED, 2, r"composition, noise $2\sigma$"),
    "constants": (CONSTANTS, 2, "original, constants"),
    "code": (ADVANCED, 2, "original, composition"),
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw one curve for each list and reading of the noise, and the runs without privacy as a line."""
    del published  # the paper prints no numbers
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 2.7))
    kept = metrics[metrics["metric"] == "log_likelihood"]
    mean_curves(axes, pd.concat([_curve(kept, arm) for arm in CURVES]), x="nominal", hue="curve")
    mean_line(axes, kept[(kept["experiment"] == "d3p_fig7") & (kept["arm"] == "exact")], "no privacy")
    axes.set(xscale="log", xlabel=r"$\varepsilon$ as labelled by the original code", ylabel="test log-likelihood")
    legend_above(axes, ncols=2)
    return figure


def _curve(metrics: pd.DataFrame, arm: str) -> pd.DataFrame:
    sigmas, factor, name = CURVES[arm]
    chosen = metrics[metrics["arm"] == arm]
    # The noise of calibrated runs is that of the list up to its last digit.
    nearest = [min(sigmas, key=lambda sigma: abs(sigma - noise / factor)) for noise in chosen["noise_multiplier"]]
    return chosen.assign(nominal=[sigmas[sigma] for sigma in nearest], curve=name)
