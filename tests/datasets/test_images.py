import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpinfer.errors import InputError
from pipeline.datasets import load
from pipeline.datasets.base import Dataset, Fetched
from pipeline.datasets.images import centred, read_idx, unit
from pipeline.settings.data import Cifar10, Data, FashionMnist, Mnist

CIFAR_FILES = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
IMAGES = np.array([[[0, 51], [102, 255]]], dtype=np.uint8)


def test_idx_has_shape_and_values(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(struct.pack(">BBBB3I", 0, 0, 8, 3, 2, 2, 3) + bytes(range(12)))
    assert np.array_equal(read_idx(tmp_path / "a"), np.arange(12).reshape(2, 2, 3))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is not an idx file"),
        (b"\x1f\x8b\x08\x00 gzip", "is not an idx file"),
        (struct.pack(">BBBBI", 0, 0, 8, 1, 5) + b"\0" * 4, "holds 4 values, but its header says 5"),
    ],
)
def test_what_is_no_idx_file_is_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read_idx(tmp_path / "a")


@pytest.mark.data
def test_real_mnist(real: Callable[[Data], Dataset]) -> None:
    train, test, facts = real(Mnist())
    assert (train["x"].shape, test["x"].shape) == ((60000, 28, 28), (10000, 28, 28))
    assert train["x"].dtype == np.uint8
    assert train["y"].dtype == np.int32
    assert train["y"][:5].tolist() == [5, 0, 4, 1, 9]
    assert train["x"].mean() == pytest.approx(33.318, abs=5e-4)
    assert test["x"].mean() == pytest.approx(33.791, abs=5e-4)
    assert facts["licence"] == "CC BY-SA 3.0"
    assert len(facts["files"]) == 4


@pytest.mark.data
def test_real_fashion_mnist(real: Callable[[Data], Dataset]) -> None:
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


def test_planes_of_cifar10_become_channels_in_the_order_of_the_batches(tmp_path: Path) -> None:
    for label, file in enumerate(CIFAR_FILES):
        planes = np.repeat([[10, 20, 30]], 1024, axis=1).astype(np.uint8).ravel() + label
        planes[1] = 99
        (tmp_path / file).write_bytes(bytes([label]) + planes.astype(np.uint8).tobytes())
    train, test, _ = load(Cifar10(), lambda _: Fetched({file: tmp_path / file for file in CIFAR_FILES}, {}))
    assert train["y"].tolist() == [0, 1, 2, 3, 4]
    assert test["y"].tolist() == [5]
    assert train["x"].shape == (5, 32, 32, 3)
    assert train["x"][2, 7, 9].tolist() == [12, 22, 32]
    assert train["x"][2, 0, 1].tolist() == [99, 22, 32]


@pytest.mark.data
def test_real_cifar10(real: Callable[[Data], Dataset]) -> None:
    train, test, facts = real(Cifar10())
    assert (train["x"].shape, test["x"].shape) == ((50000, 32, 32, 3), (10000, 32, 32, 3))
    assert train["x"].dtype == np.uint8
    assert train["y"][:5].tolist() == [6, 9, 9, 4, 1]
    assert np.bincount(train["y"]).tolist() == [5000] * 10
    assert np.bincount(test["y"]).tolist() == [1000] * 10
    assert train["x"].mean() == pytest.approx(120.7076, abs=5e-5)
    assert len(facts["files"]) == 6


def test_unit() -> None:
    assert unit(IMAGES).dtype == np.float32
    assert np.allclose(unit(IMAGES), [[[0, 0.2], [0.4, 1]]])


def test_centred() -> None:
    assert centred(IMAGES).dtype == np.float32
    assert np.allclose(centred(IMAGES), [[[-1, -0.6], [-0.2, 1]]])
