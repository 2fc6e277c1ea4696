from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpinfer.data import load
from dpinfer.data.base import Dataset, Fetched
from dpinfer.settings.data import Cifar10, Data

FILES = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]


def test_planes_become_channels_in_the_order_of_the_batches(tmp_path: Path) -> None:
    for label, file in enumerate(FILES):
        planes = np.repeat([[10, 20, 30]], 1024, axis=1).astype(np.uint8).ravel() + label
        planes[1] = 99
        (tmp_path / file).write_bytes(bytes([label]) + planes.astype(np.uint8).tobytes())
    train, test, _ = load(Cifar10(), lambda _: Fetched({file: tmp_path / file for file in FILES}, {}))
    assert train["y"].tolist() == [0, 1, 2, 3, 4]
    assert test["y"].tolist() == [5]
    assert train["x"].shape == (5, 32, 32, 3)
    assert train["x"][2, 7, 9].tolist() == [12, 22, 32]
    assert train["x"][2, 0, 1].tolist() == [99, 22, 32]


@pytest.mark.data
def test_real(real: Callable[[Data], Dataset]) -> None:
    train, test, facts = real(Cifar10())
    assert (train["x"].shape, test["x"].shape) == ((50000, 32, 32, 3), (10000, 32, 32, 3))
    assert train["x"].dtype == np.uint8
    assert train["y"][:5].tolist() == [6, 9, 9, 4, 1]
    assert np.bincount(train["y"]).tolist() == [5000] * 10
    assert np.bincount(test["y"]).tolist() == [1000] * 10
    assert train["x"].mean() == pytest.approx(120.7076, abs=5e-5)
    assert len(facts["files"]) == 6
