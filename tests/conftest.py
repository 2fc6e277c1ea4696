"""Fixtures that several tests share."""

from pathlib import Path

import pytest

from checkout import Checkout, copy_project


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh copy of the project."""
    return copy_project(tmp_path)
