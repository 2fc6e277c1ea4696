"""Studies: one module for each, which bears the name used in the settings and has `rows(settings)`.

A study needs neither data nor a fit. Its rows are the metrics of a cell: `metric`, `value`, and what they are
about.
"""

import importlib
from collections.abc import Iterator
from typing import Any

from dpinfer.settings.study import Study

Row = dict[str, Any]


def rows(settings: Study) -> Iterator[Row]:
    """Compute the rows of the study that `settings` names."""
    found: Iterator[Row] = importlib.import_module(f"{__name__}.{settings.study}").rows(settings)
    return found
