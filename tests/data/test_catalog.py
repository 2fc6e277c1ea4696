import dataclasses
from pathlib import Path
from typing import get_args

import pytest

from dpinfer.data import catalog
from dpinfer.errors import InputError
from dpinfer.settings.data import Data

CATALOG = Path(__file__).parents[2] / "config" / "datasets.yaml"
SUM = "ab" * 32
ENTRY = f"""toy:
  licence: MIT
  reference: nobody
  files: {{a: {SUM}}}
  sources: [{{client: pip, get: toy==1}}]
"""


def test_lists_exactly_the_data_sets_that_need_files() -> None:
    kinds = get_args(get_args(Data)[0])
    real = {kind.name for kind in kinds if any(f.name == "standin" for f in dataclasses.fields(kind))}
    real.remove("adult_shards")  # it is made of the files of adult
    assert set(catalog.read(CATALOG)) == real
    assert len(real) == 5


@pytest.mark.parametrize("name", ["abalone", "adult", "mnist", "fashion_mnist", "cifar10"])
def test_upstream_first_then_a_package(name: str) -> None:
    clients = [source.client for source in catalog.read(CATALOG)[name].sources]
    upstream = [client in ("url", "archive") for client in clients]
    assert upstream == sorted(upstream, reverse=True)
    assert True in upstream
    assert False in upstream


@pytest.mark.parametrize("client", ["pip", "npm"])
def test_packages_are_pinned(client: str) -> None:
    mark = {"pip": "==", "npm": "@"}[client]
    sources = [s for entry in catalog.read(CATALOG).values() for s in entry.sources if s.client == client]
    assert sources
    assert all(mark in source.get for source in sources)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("licence: MIT", "other: MIT", "licence is missing"),
        ("get: toy==1", "get: toy==1, url: x", "url is not a known key"),
        (SUM, "beef", "files"),
        ("client: pip", "client: pipx", "pipx"),
        ("get: toy==1", "get: toy==1, member: {b: c}", "should list exactly a"),
        ("reference: nobody", "reference: 3", "reference"),
    ],
)
def test_malformed_entry_is_named(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "datasets.yaml"
    path.write_text(ENTRY)
    assert list(catalog.read(path)) == ["toy"]
    path.write_text(ENTRY.replace(old, new))
    with pytest.raises(InputError, match=f"{path}: toy.*{complaint}"):
        catalog.read(path)
