"""Studies: one module for each, which has `rows(settings)`.

A study needs neither data nor a fit. Its rows are the metrics of a cell: `metric`, `value`, and what they are
about.
"""

from typing import Any

Row = dict[str, Any]
