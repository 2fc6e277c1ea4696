"""Say in one sentence what is wrong with settings: the key, the value found, what is allowed."""

import dataclasses
import difflib
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import ValidationError


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
