import math

import numpy as np

from dpinfer.data import load
from dpinfer.data.base import Files
from dpinfer.settings.data import TwoModes


def test_published_records(no_files: Files) -> None:
    x = load(TwoModes(records=3), no_files).train["x"]
    assert np.allclose(x, [-1.346469, -1.054213, 0.455527], atol=5e-7)


def test_equals_one_draw_after_the_other_bit_for_bit(no_files: Files) -> None:
    rng = np.random.RandomState(123)
    wanted = [
        rng.normal(0, math.sqrt(2)) if rng.uniform() > 0.5 else rng.normal(1, math.sqrt(2)) for _ in range(5000)
    ]
    assert load(TwoModes(records=5000), no_files).train["x"].tolist() == wanted


def test_shorter_run_is_a_prefix(no_files: Files) -> None:
    longer, shorter = (load(TwoModes(records=n), no_files).train["x"] for n in (200, 50))
    assert np.array_equal(longer[:50], shorter)


def test_moments(no_files: Files) -> None:
    x = load(TwoModes(records=100_000), no_files).train["x"]
    # Mean 1/2 and variance 2 + 1/4, within four standard errors.
    assert abs(x.mean() - 0.5) < 0.02
    assert abs(x.var() - 2.25) < 0.04
