"""Names of artifacts, and patterns for them."""

import dataclasses
import re
from typing import Any

from pipeline.settings.data import Data


def data_name(settings: Data) -> str:
    """Name of a data artifact: the data set's, and whatever differs from its default settings."""
    return changed_name(settings.name, settings)


def changed_name(name: str, settings: Any) -> str:
    """A name, and whatever differs from the default settings."""
    changed = [
        f"{field.name}={getattr(settings, field.name)}"
        for field in dataclasses.fields(settings)
        if getattr(settings, field.name) != field.default
    ]
    return re.sub(r"[^A-Za-z0-9.+_=-]", "_", "-".join([name, *changed]))


def any_of(names: list[str]) -> str:
    """A regular expression for any of the names, or for nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"
