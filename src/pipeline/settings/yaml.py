"""Read a YAML file as plain data, with one sentence when that cannot be done."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from dpinfer.errors import InputError
from pipeline.settings.explain import explain


def read(path: Path) -> dict[str, Any]:
    """Return the mapping in the file; malformed YAML, duplicate keys and non-mappings are errors."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        content = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the file is not text in UTF-8") from error
    except (YAMLError, ValueError) as error:
        # A tag on what is no number ends in an error of Python's own.
        raise InputError(f"{path}: this is not valid YAML: {_problem(error)}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: the file should hold keys and values, but holds {type(content).__name__}")
    return content


def parse(kind: Any, raw: Any, where: str | Path, origins: Mapping[str, str] | None = None) -> Any:
    """Validate plain data as `kind`; the error names `where`, the key, and what is allowed there.

    Args:
        kind: A settings class, or a union of them.
        raw: What `read` gives, or a part of it.
        where: The file (or option) that the user should look into.
        origins: For keys that stand under another name in that file, that name.
    """
    try:
        # JSON mode is strict about types and still takes a list for a tuple, as YAML gives it.
        return _adapter(kind).validate_json(json.dumps(raw, default=str))
    except TypeError as error:
        raise InputError(f"{where}: a key is no word: {error}") from error
    except ValidationError as error:
        raise InputError(f"{where}: {explain(error, kind, origins or {})}") from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _problem(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = " ".join(str(getattr(error, "problem", None) or error).split())
    return f"{problem} (line {mark.line + 1}, column {mark.column + 1})" if mark else problem
