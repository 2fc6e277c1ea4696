"""Studies: a file for each kind, with a table `ROWS` of the functions that compute them.

A study needs neither data nor a fit. Its rows are the metrics of a cell: `metric`, `value`, and what they are
about.
"""

from typing import Any

Row = dict[str, Any]
