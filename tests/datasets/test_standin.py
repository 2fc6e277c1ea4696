from typing import Any

import numpy as np
import pytest

from pipeline.datasets import load
from pipeline.datasets.base import Arrays, Files
from pipeline.settings.data import Abalone, Adult, Cifar10, FashionMnist, Mnist

IMAGES = [(Mnist, (28, 28)), (FashionMnist, (28, 28)), (Cifar10, (32, 32, 3))]
TABLES = [
    (Abalone(standin=True), 8),
    (Adult(standin=True), 14),
    (Adult(standin=True, encoding="one_hot"), 108),
]


def nearest_mean_accuracy(train: Arrays, test: Arrays) -> float:
    """How often a test record's nearest class mean of the train records is that of its own class."""
    flat = {key: part["x"].reshape(len(part["x"]), -1).astype(float) for key, part in (("a", train), ("b", test))}
    classes = np.unique(train["y"])
    means = np.stack([flat["a"][train["y"] == label].mean(axis=0) for label in classes])
    distances = ((flat["b"][:, None] - means[None]) ** 2).sum(axis=2)
    return float((classes[distances.argmin(axis=1)] == test["y"]).mean())


@pytest.mark.parametrize(("kind", "shape"), IMAGES)
def test_images(kind: Any, shape: tuple[int, ...], no_files: Files) -> None:
    train, test, facts = load(kind(standin=True), no_files)
    assert train["x"].shape == (512, *shape)
    assert test["x"].shape == (128, *shape)
    assert train["x"].dtype == np.uint8
    assert set(train["y"]) == set(range(10))
    assert facts["standin"] is True
    assert nearest_mean_accuracy(train, test) > 0.9


def test_mnist_and_fashion_differ(no_files: Files) -> None:
    first, second = (load(kind(standin=True), no_files).train["x"] for kind in (Mnist, FashionMnist))
    assert (first != second).mean() > 0.5


@pytest.mark.parametrize(("settings", "columns"), TABLES)
def test_tables(settings: Any, columns: int, no_files: Files) -> None:
    train, test, facts = load(settings, no_files)
    assert train["x"].shape == (320, columns)
    assert test["x"].shape == (80, columns)
    assert train["x"].dtype == np.float64
    assert set(train["y"]) == {0, 1}
    assert facts["standin"] is True
    assert nearest_mean_accuracy(train, test) > 0.65
