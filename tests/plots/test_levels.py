from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection

from pipeline.plots import style
from pipeline.plots.levels import bands, boxes

RUNS = pd.DataFrame(
    [
        {"arm": arm, "epsilon": epsilon, "num_steps": steps, "value": steps / 1000 + shift}
        for arm, epsilon in (("private", 1.0), ("private", 2.0), ("exact", float("inf")))
        for steps in (100, 200)
        for shift in (-0.1, 0.0, 0.1)
    ]
)


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    style.apply()
    yield
    plt.close("all")


def test_a_band_is_the_mean_and_one_standard_deviation_of_each_level() -> None:
    _, axes = bands(RUNS, "num_steps")
    assert [line.get_label() for line in axes.lines] == [r"$\varepsilon = 1$", r"$\varepsilon = 2$", "no privacy"]
    np.testing.assert_allclose(np.asarray(axes.lines[0].get_xydata()), [[100, 0.1], [200, 0.2]])
    band = axes.collections[0]
    assert isinstance(band, PolyCollection)
    corners = band.get_paths()[0].get_extents()
    np.testing.assert_allclose([corners.ymin, corners.ymax], [0.0, 0.3], atol=1e-12)


@pytest.mark.parametrize(("baseline", "pieces"), [(0.15, 1), (-5.0, 2)])
def test_boxes_are_named_and_a_baseline_far_below_has_a_piece_of_axis_of_its_own(
    baseline: float, pieces: int
) -> None:
    figure = boxes(RUNS, baseline, "replace one record")
    assert len(figure.axes) == pieces
    last = figure.axes[-1]
    assert [label.get_text() for label in last.get_xticklabels()] == ["1", "2", "none"]
    dashed = [line for line in last.lines if line.get_label() == "logistic regression without groups"]
    assert list(np.asarray(dashed[0].get_ydata())) == [baseline, baseline]
    assert figure.legends[0].get_texts()[0].get_text() == "logistic regression without groups"
    assert "replace one record" in last.get_xlabel()
