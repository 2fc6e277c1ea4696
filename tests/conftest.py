"""Fixtures that several tests share."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkout import Checkout, copy_project

MOST_MAPPED = 20_000
"""Pieces of memory; Linux allows a process 65 530, and every program that XLA compiles takes several."""


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh copy of the project."""
    return copy_project(tmp_path)


@pytest.fixture(autouse=True)
def state_files(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test fits is kept in no ledger of the user's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture(autouse=True)
def few_programs() -> Iterator[None]:
    """Forget compiled programs now and then: those of all tests together are more than a process may hold."""
    yield
    maps = Path("/proc/self/maps")
    if "jax" in sys.modules and maps.exists() and maps.read_bytes().count(b"\n") > MOST_MAPPED:
        sys.modules["jax"].clear_caches()
        gc.collect()
