"""Write the JSON schemas of the config files, by which an editor completes and checks them."""

import argparse
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dpinfer.atomic import write_json
from pipeline.settings.claim import Claims, Doubts
from pipeline.settings.data import Data
from pipeline.settings.experiment import Experiment
from pipeline.settings.method import Method
from pipeline.settings.model import Model
from pipeline.settings.project import Project
from pipeline.settings.study import Study

Schema = dict[str, Any]


def schemas() -> dict[str, Schema]:
    """Return a schema for each kind of config file, by its name."""
    return {
        "config": TypeAdapter(Project).json_schema(),
        "claims": TypeAdapter(Claims).json_schema(),
        "doubts": TypeAdapter(Doubts).json_schema(),
        "experiment": _experiment(),
    }


def _experiment() -> Schema:
    """The schema of an experiment, whose tables allow whatever some data set, model or method allows.

    Which keys belong together is known only when cells are crossed: an editor suggests, the plan decides.
    """
    schema = TypeAdapter(Experiment).json_schema()
    definitions = schema["$defs"]
    kinds: dict[str, list[Any]] = {"data": [Data], "model": [Model], "base": [Method, Study]}
    keys = {name: _keys(members, definitions) for name, members in kinds.items()}
    for section in ("data", "model"):
        keys["base"].pop(section)
    dotted = {f"{part}.{key}": keys[part][key] for part in ("data", "model") for key in keys[part]}
    keys["grid"] = {
        key: {"type": "array", "minItems": 1, "items": value} for key, value in {**keys["base"], **dotted}.items()
    }
    for name, table in keys.items():
        definitions[f"{name}_table"] = {"type": "object", "additionalProperties": False, "properties": table}
    for part in (schema, definitions["Part"], definitions["Change"]):
        for name in keys:
            described = part["properties"][name]["description"]
            part["properties"][name] = {"description": described, "$ref": f"#/$defs/{name}_table"}
    return schema


def _keys(kinds: list[Any], definitions: Schema) -> Schema:
    """Every key that some settings class, or some member of a union, has; its definitions join `definitions`."""
    keys: Schema = {}
    for member in (member for kind in kinds for member in _members(kind, definitions)):
        for key, value in member["properties"].items():
            known = keys.setdefault(key, {"anyOf": []})["anyOf"]
            if value not in known:
                known.append(value)
    return {key: value["anyOf"][0] if len(value["anyOf"]) == 1 else value for key, value in keys.items()}


def _members(kind: Any, definitions: Schema) -> list[Schema]:
    schema = TypeAdapter(kind).json_schema()
    definitions.update(schema.get("$defs", {}))
    return [definitions[member["$ref"].split("/")[-1]] for member in schema.get("oneOf", [])] or [schema]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer schema`."""
    parser.add_argument("--output", type=Path, required=True, help="folder to write <kind>.schema.json into")


def main(arguments: argparse.Namespace) -> None:
    """Write one file for each kind of config file."""
    for name, schema in schemas().items():
        write_json(arguments.output / f"{name}.schema.json", schema)
