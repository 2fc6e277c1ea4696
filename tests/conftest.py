"""Fixtures that several tests share."""

import ctypes
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


@pytest.fixture(autouse=True, scope="module")
def no_programs_of_others() -> Iterator[None]:
    """Let go of all that a file of tests has compiled: the programs of all files take gigabytes."""
    yield
    forget_programs()


@pytest.fixture(autouse=True)
def few_programs() -> Iterator[None]:
    """Let go of them in between where a file compiles more than a process may hold."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > MOST_MAPPED:
        forget_programs()


def forget_programs() -> None:
    """Drop compiled programs, and hand their memory back to the system."""
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
