"""Read a YAML file as settings; what is wrong is one sentence: the key, the value found, what is allowed."""

import dataclasses
import difflib
import json
import types
import typing
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.resolver import implicit_resolvers
from yaml import CSafeLoader, load

from dpinfer.errors import InputError


def read(path: Path) -> dict[str, Any]:
    """Return the mapping in the file; malformed YAML, duplicate keys and non-mappings are errors."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        content = _loaded(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the file is not text in UTF-8") from error
    except (YAMLError, ValueError) as error:
        # A tag on what is no number ends in an error of Python's own.
        raise InputError(f"{path}: this is not valid YAML: {_problem(error)}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: the file should hold keys and values, but holds {type(content).__name__}")
    return content


class _Quick(CSafeLoader):
    """YAML 1.2 as ruamel.yaml reads it, by the C library that Snakemake's PyYAML brings: ten times as fast."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Refuse what PyYAML lets pass: a key that stands twice."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len({*keys}) < len(keys):
            raise YAMLError("a key stands twice")
        return super().construct_mapping(node, deep)

    def construct_whole(self, node: Any) -> int:
        """A whole number: with a leading 0 it is none of eight digits."""
        text = node.value.replace("_", "")
        return int(text, 0 if text.lstrip("+-")[:2].lower() in ("0x", "0o") else 10)


for _versions, _tag, _pattern, _first in implicit_resolvers:
    if (1, 2) in _versions:
        _Quick.add_implicit_resolver(_tag, _pattern, _first)
_Quick.add_constructor("tag:yaml.org,2002:int", _Quick.construct_whole)


def _loaded(text: str) -> Any:
    """The content of a file; ruamel.yaml reads once more what cannot be read, and says what is wrong."""
    if "%YAML" not in text:
        with suppress(Exception):
            return load(text, _Quick)
    return YAML(typ="safe", pure=True).load(text)


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


def explain(error: ValidationError, kind: Any, origins: Mapping[str, str]) -> str:
    """Return one sentence for the first thing that `error` found wrong with data of type `kind`.

    Args:
        error: What validation raised.
        kind: The type that was wanted.
        origins: For keys that a user wrote under another name, that name.
    """
    first = error.errors(include_url=False)[0]
    path, owner = _follow(kind, first["loc"])
    key, found, context = ".".join(map(str, path)), first.get("input"), first.get("ctx", {})
    key = origins.get(key, key)
    match first["type"]:
        case "unexpected_keyword_argument":
            return f"{key} is not a known key{suggest(str(path[-1]), field_names(owner))}"
        case "missing":
            return f"the key {key} is missing"
        case "union_tag_invalid":
            tag = context["discriminator"].strip("'")
            key = origins.get(_join(key, tag), _join(key, tag))
            return f"{key} is {context['tag']!r}, but should be one of {context['expected_tags']}"
        case "union_tag_not_found":
            return f"the key {_join(key, context['discriminator'].strip(chr(39)))} is missing"
        case "literal_error":
            return f"{key} is {found!r}, but should be {context['expected']}"
        case "value_error":
            return f"{key}: {context['error']}" if key else str(context["error"])
        case _:
            return f"{key} is {found!r}, but {_demand(first['msg'])}"


def suggest(name: str, allowed: Iterable[str]) -> str:
    """Return `; did you mean ...?` where something allowed is close to `name`, else what is allowed."""
    choices = sorted(allowed)
    close = difflib.get_close_matches(name, choices, n=1)
    return f"; did you mean {close[0]}?" if close else f"; allowed here: {', '.join(choices)}"


def field_names(kind: Any) -> list[str]:
    """Names of the fields of a settings class."""
    return [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []


def _follow(kind: Any, location: tuple[int | str, ...]) -> tuple[list[int | str], Any]:
    """Walk an error's location through the types: the keys a user wrote, and the class of the last one.

    Pydantic puts the tag of a union's member into the location; a user never wrote that.
    """
    path: list[int | str] = []
    owner = kind = _members(kind)[0] if len(_members(kind)) == 1 else kind
    for part in location:
        members = _members(kind)
        tagged = [member for member in members if part in _tags(member)]
        if len(members) > 1 and tagged:
            kind = tagged[0]
            continue
        kind = members[0]
        if dataclasses.is_dataclass(kind):
            path.append(part)
            owner, kind = kind, typing.get_type_hints(kind, include_extras=True).get(str(part))
        elif get_origin(kind) in (tuple, list, dict):
            path.append(part)
            kind = get_args(kind)[1 if get_origin(kind) is dict else 0]
    return path, owner


def _members(kind: Any) -> list[Any]:
    """Members of a union without None; a type that is no union is its own member."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        return [inner for part in get_args(kind) if part is not type(None) for inner in _members(part)]
    return [kind]


def _tags(kind: Any) -> set[Any]:
    """Default values of a class's fields, among which is the tag that names it in a union."""
    return (
        {f.default for f in dataclasses.fields(kind) if isinstance(f.default, str)}
        if dataclasses.is_dataclass(kind)
        else set()
    )


def _demand(message: str) -> str:
    return message.removeprefix("Input ")[0].lower() + message.removeprefix("Input ")[1:]


def _join(key: str, last: str) -> str:
    return f"{key}.{last}" if key else last
