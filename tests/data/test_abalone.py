from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpinfer.data import load
from dpinfer.data.base import Dataset, Fetched
from dpinfer.settings.data import Abalone, Data

ROWS = """I,0.1,0.2,0.3,0.4,0.5,0.6,0.7,9
F,0.2,0.3,0.4,0.5,0.6,0.7,0.1,10
M,0.3,0.4,0.5,0.6,0.7,0.1,0.2,11
M,0.4,0.5,0.6,0.7,0.1,0.2,0.3,3
F,0.5,0.6,0.7,0.1,0.2,0.3,0.4,29
"""


def test_codes_labels_and_split(tmp_path: Path) -> None:
    (tmp_path / "abalone.data").write_text(ROWS)
    fetched = Fetched({"abalone.data": tmp_path / "abalone.data"}, {"licence": "none"})
    train, test, facts = load(Abalone(), lambda _: fetched)
    assert train["y"].tolist() == [0, 1, 1, 0]
    assert test["y"].tolist() == [1]
    assert facts == {"licence": "none", "standin": False}
    sex = np.append(train["x"][:, 0], test["x"][:, 0])
    codes = np.array([0.0, 1, 2, 2, 1])
    assert np.allclose(sex, (codes - codes.mean()) / codes.std())


@pytest.mark.data
def test_real(real: Callable[[Data], Dataset]) -> None:
    train, test, facts = real(Abalone())
    assert (train["x"].shape, test["x"].shape) == ((3341, 8), (836, 8))
    x, y = np.vstack([train["x"], test["x"]]), np.append(train["y"], test["y"])
    assert y.mean() == pytest.approx(0.4982, abs=5e-5)
    assert 1 - test["y"].mean() == pytest.approx(0.531, abs=5e-4)
    assert np.allclose(x.mean(axis=0), 0)
    assert np.allclose(x.std(axis=0), 1)
    _, counts = np.unique(x[:, 0], return_counts=True)
    assert counts.tolist() == [1342, 1307, 1528]
    assert np.linalg.norm(x, axis=1).max() == pytest.approx(23.7, abs=0.05)
    assert facts["licence"] == "CC BY 4.0"


@pytest.mark.data
def test_accuracy_without_privacy(real: Callable[[Data], Dataset]) -> None:
    train, test, _ = real(Abalone())
    x, y = train["x"], train["y"]
    weights = np.zeros(8)
    # Newton's method for the mode under a standard normal prior.
    for _ in range(20):
        p = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (p * (1 - p))[:, None]).T @ x + np.eye(8)
        weights -= np.linalg.solve(curvature, x.T @ (p - y) + weights)
    assert ((test["x"] @ weights > 0) == test["y"]).mean() == pytest.approx(0.7727, abs=5e-5)
