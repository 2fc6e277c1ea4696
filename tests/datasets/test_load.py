import importlib
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from pipeline import datasets
from pipeline.datasets import load
from pipeline.datasets.base import Files
from pipeline.plan import Plan
from pipeline.registry import DATASETS, dataset_loader
from pipeline.settings.data import (
    Abalone,
    Adult,
    AdultShards,
    BooleanLogistic,
    Cifar10,
    Data,
    FashionMnist,
    FiveClusters,
    HierarchicalData,
    LinearShards,
    Mnist,
    TwoModesData,
)

# One small setting of every data set, none of which may ask for files.
SMALL: list[Data] = [
    Abalone(standin=True),
    Adult(standin=True),
    AdultShards(standin=True),
    Mnist(standin=True),
    FashionMnist(standin=True),
    Cifar10(standin=True),
    HierarchicalData(records=20),
    FiveClusters(train_records=20, test_records=10),
    TwoModesData(records=20),
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
def test_every_loader_says_which_arrays_it_gives(settings: Any) -> None:
    assert "Arrays:" in (dataset_loader(settings.name).__doc__ or "")


def test_registry_and_settings_name_the_same_data_sets() -> None:
    assert set(DATASETS) == {kind.name for kind in get_args(get_args(Data)[0])}


@pytest.mark.parametrize("path", sorted(Path(datasets.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_registry_and_loaders_name_the_same_data_sets(path: Path) -> None:
    module = f"{datasets.__name__}.{path.stem}"
    registered = {name for name, of in DATASETS.items() if of == module}
    assert set(getattr(importlib.import_module(module), "LOADERS", {})) == registered


@pytest.mark.parametrize(("name", "module"), DATASETS.items())
def test_a_loader_takes_the_settings_of_its_name(name: str, module: str) -> None:
    loader = dataset_loader(name)
    assert (loader.__module__, loader.__name__) == (module, name)
    assert get_type_hints(loader)["settings"].name == name


def test_the_digest_of_a_data_set_is_that_of_its_file() -> None:
    plan = Plan({"scale": "smoke"}, Path(__file__).parents[2])
    found = {(DATASETS[settings.name], plan.data_code(name)) for name, settings in plan.data.items()}
    assert len(found) == len({module for module, _ in found}) == len({code for _, code in found}) == 3
