"""The values that a study goes through."""

import numpy as np

from pipeline.settings.study import Span


def spread(values: tuple[float, ...] | Span) -> list[float]:
    """The listed values, or those of a span."""
    if not isinstance(values, Span):
        return [float(value) for value in values]
    if values.spacing == "log":
        return np.geomspace(values.start, values.stop, values.count).tolist()
    even = np.linspace(values.start, values.stop, values.count)
    return (np.unique(np.round(even)) if values.spacing == "whole" else even).tolist()
