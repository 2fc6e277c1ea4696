from collections.abc import Callable

import numpy as np
import pytest

from dpinfer.data.base import Dataset
from dpinfer.settings.data import Data, Mnist


@pytest.mark.data
def test_real(real: Callable[[Data], Dataset]) -> None:
    train, test, facts = real(Mnist())
    assert (train["x"].shape, test["x"].shape) == ((60000, 28, 28), (10000, 28, 28))
    assert train["x"].dtype == np.uint8
    assert train["y"].dtype == np.int32
    assert train["y"][:5].tolist() == [5, 0, 4, 1, 9]
    assert train["x"].mean() == pytest.approx(33.318, abs=5e-4)
    assert test["x"].mean() == pytest.approx(33.791, abs=5e-4)
    assert facts["licence"] == "CC BY-SA 3.0"
    assert len(facts["files"]) == 4
