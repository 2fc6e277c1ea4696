import importlib
from typing import Any, get_args

import numpy as np
import pytest

from dpinfer.data import load
from dpinfer.data.base import Files
from dpinfer.settings.data import (
    Abalone,
    Adult,
    AdultShards,
    BooleanLogistic,
    Cifar10,
    Data,
    FashionMnist,
    FiveClusters,
    Hierarchical,
    LinearShards,
    Mnist,
    TwoModes,
)

# One small setting of every data set, none of which may ask for files.
SMALL: list[Data] = [
    Abalone(standin=True),
    Adult(standin=True),
    AdultShards(standin=True),
    Mnist(standin=True),
    FashionMnist(standin=True),
    Cifar10(standin=True),
    Hierarchical(records=20),
    FiveClusters(train_records=20, test_records=10),
    TwoModes(records=20),
    LinearShards(clients=2, records_per_client=5, theta=(-1.0, 2.0), noise_std=1.0),
    BooleanLogistic(copies=2),
]


def test_every_data_set_is_in_the_list() -> None:
    assert {type(settings) for settings in SMALL} == set(get_args(get_args(Data)[0]))


@pytest.mark.parametrize("settings", SMALL, ids=lambda settings: settings.name)
def test_contract(settings: Any, no_files: Files) -> None:
    dataset = load(settings, no_files)
    for part in (dataset.train, dataset.test):
        assert len({len(value) for value in part.values()}) <= 1
    for key, value in dataset.test.items():
        assert value.dtype == dataset.train[key].dtype
        assert value.shape[1:] == dataset.train[key].shape[1:]
    assert dataset.test.keys() in (dataset.train.keys(), set())
    if "y" in dataset.train and dataset.train["y"].dtype != np.float64:
        assert dataset.train["y"].dtype == np.int32


@pytest.mark.parametrize("settings", SMALL, ids=lambda settings: settings.name)
def test_same_settings_give_the_same_bytes(settings: Any, no_files: Files) -> None:
    first, second = load(settings, no_files), load(settings, no_files)
    assert first.facts == second.facts
    for key, value in first.train.items():
        assert value.tobytes() == second.train[key].tobytes()


@pytest.mark.parametrize("settings", SMALL, ids=lambda settings: settings.name)
def test_every_module_says_which_arrays_it_gives(settings: Any) -> None:
    module = importlib.import_module(f"dpinfer.data.{settings.name}")
    assert "Arrays:" in module.load.__doc__
