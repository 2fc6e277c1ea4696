"""Algorithms: one module for each, which bears the name used in the settings and has `build`.

The names are those of the members of `dpinfer.settings.method.Method`; a test goes through all of them.
"""

import importlib
from typing import Any

from dpinfer.inference.base import Algorithm


def build(method: str, **parts: Any) -> Algorithm:
    """Build the algorithm of that name from its parts."""
    algorithm: Algorithm = importlib.import_module(f"{__name__}.{method}").build(**parts)
    return algorithm
