"""Write files so that a reader sees the old content or the new, never a half."""

import json
import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpinfer.errors import InputError

UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, zipfile.BadZipFile)
"""What NumPy and what follows may raise at a file that is no archive of the right arrays."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, and move it there when the block ends without an error.

    The temporary name keeps the suffix (libraries choose formats by it) and is removed after an error.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write `content` as JSON that every reader accepts: infinity is the string "inf"."""
    with replacing(path) as temporary:
        temporary.write_text(to_json(content, indent=2) + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read what `write_json` wrote."""
    try:
        return from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from error


def to_json(content: Any, indent: int | None = None) -> str:
    """Turn plain data into JSON text; not-a-number is an error, as no result of ours may be one."""
    return json.dumps(_spelt(content), indent=indent, allow_nan=False)


def from_json(text: str) -> Any:
    """Turn JSON text into plain data, reading "inf" as infinity."""
    return _unspelt(json.loads(text))


def _spelt(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _spelt(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_spelt(value) for value in content]
    return "inf" if isinstance(content, float) and content == math.inf else content


def _unspelt(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _unspelt(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_unspelt(value) for value in content]
    return math.inf if content == "inf" else content
