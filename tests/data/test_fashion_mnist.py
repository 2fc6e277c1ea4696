from collections.abc import Callable

import numpy as np
import pytest

from dpinfer.data.base import Dataset
from dpinfer.settings.data import Data, FashionMnist


@pytest.mark.data
def test_real(real: Callable[[Data], Dataset]) -> None:
    train, test, facts = real(FashionMnist())
    assert (train["x"].shape, test["x"].shape) == ((60000, 28, 28), (10000, 28, 28))
    assert train["x"].dtype == np.uint8
    assert train["y"].dtype == np.int32
    assert train["y"][:5].tolist() == [9, 0, 0, 3, 0]
    assert train["x"].mean() == pytest.approx(72.940, abs=5e-4)
    assert test["x"].mean() == pytest.approx(73.147, abs=5e-4)
    assert facts["licence"] == "MIT"
    assert len(facts["files"]) == 4
    assert np.bincount(train["y"]).tolist() == [6000] * 10
    assert np.bincount(test["y"]).tolist() == [1000] * 10
