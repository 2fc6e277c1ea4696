"""What an audit finds of every mechanism, beside the epsilons of its paper and of a sound accountant."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from pipeline.plots.style import COLUMN_WIDTH, PUBLISHED, legend_above

NAMES = {
    "dpsgd": "DP-SGD, Poisson, 1 step",
    "dpsgd_steps": "DP-SGD, Poisson, 8 steps",
    "dpsgd_subset": "DP-SGD, fixed size, 1 step",
    "dpsgd_subset_steps": "DP-SGD, fixed size, 8 steps",
    "dpvi": "DP-VI, Poisson, 1 step",
    "dpvi_steps": "DP-VI, Poisson, 8 steps",
    "dpvi_subset": "DP-VI, fixed size, 1 step",
    "dpvi_subset_steps": "DP-VI, fixed size, 8 steps",
    "barker": "DP-MCMC, 1 Barker test",
    "pvi_records": "PVI, records",
    "pvi_clients": "PVI, clients",
    "pvi_shared": "PVI, Algorithm 3",
    "pvi_server": "PVI, Algorithm 4",
    "quantile": "private quantile clip",
    "percentile": "percentile clip",
    "mean_printed": "PyVacy, as printed",
    "mean_code": "PyVacy, in code",
    "dpsvi_run": "call of DPSVI.run",
    "dpsvi_update": "loop with DPSVI.update",
    "dpsvi_x64": "the same in 64 bits",
    "training": "training loop",
    "training_resume": "training loop, resumed",
    "own": "dpinfer fit",
}


def draw(metrics: pd.DataFrame, published: pd.DataFrame | None) -> Figure:
    """Draw a row for each mechanism; an epsilon that is infinite stands at the right end."""
    del published  # a figure of our own
    found = metrics[metrics["metric"] == "epsilon"].set_index("mechanism")
    found = found.loc[[name for name in NAMES if name in found.index]]
    rows = np.arange(len(found))
    figure, axes = plt.subplots(figsize=(COLUMN_WIDTH, 0.9 + 0.2 * len(found)))
    _shade(axes, rows, found)
    axes.plot(found["eps_paper"], rows, "x", color=PUBLISHED, label=r"$\varepsilon$ of the paper's account")
    finite = np.isfinite(found["eps_sound"])
    axes.plot(found["eps_sound"][finite], rows[finite], "|", color="C0", markersize=9, markeredgewidth=2,
              label=r"sound $\varepsilon$ (at the right end: none)")  # fmt: skip
    axes.plot(
        found["value"], rows, "o", color="C1", label=f"audited: at least ({found['confidence'].iloc[0]:.1%} sure)"
    )
    axes.set(
        xscale="log",
        xlabel=rf"$\varepsilon$ ($\delta = {found['delta'].iloc[0]:g}$)",
        ylim=(len(found) - 0.5, -0.5),
    )
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(rows, [NAMES[name] for name in found.index])
    _none(axes, rows[~finite])
    legend_above(axes)
    return figure


def _shade(axes: Axes, rows: np.ndarray, found: pd.DataFrame) -> None:
    """A bar behind the rows whose paper's account is refuted."""
    for number, row in enumerate(rows[found["value"] > found["eps_paper"]]):
        label = None if number else "the paper's account is refuted"
        axes.axhspan(row - 0.5, row + 0.5, color="0.9", linewidth=0, label=label)


def _none(axes: Axes, rows: np.ndarray) -> None:
    for row in rows:
        axes.plot(1.0, row, ">", color="C0", transform=axes.get_yaxis_transform(), clip_on=False)
