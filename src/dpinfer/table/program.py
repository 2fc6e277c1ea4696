"""The user's Python file: a NumPyro `model`, perhaps a `guide` and the `LEVELS` of columns of text."""

import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpyro.infer.autoguide import AutoNormal

from dpinfer.errors import InputError
from dpinfer.table.csv_table import Levels, Table

REST = "x"
"""A parameter of this name, where no column bears it, stands for all columns that no other parameter names."""
COUNT = "records"
"""A parameter of this name is given the number of records that are to be drawn, where a model draws them all."""


class ModelFile(NamedTuple):
    """What the file defines.

    Attributes:
        model: The model.
        guide: Its guide, which takes the same parameters, or None.
        levels: Values of columns of text.
    """

    model: Callable[..., Any]
    guide: Callable[..., Any] | None
    levels: Levels


class Records(NamedTuple):
    """The arguments of the model, in the order of its parameters.

    Attributes:
        names: Of the parameters that records are passed by.
        values: One array for each.
        outcomes: Those of the names that may be left out, for the model to draw them.
        counted: Whether the model can be told how many records to draw.
    """

    names: tuple[str, ...]
    values: tuple[np.ndarray, ...]
    outcomes: tuple[str, ...]
    counted: bool


def load(path: Path) -> ModelFile:
    """Run the file and take from it what it defines."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise InputError(f"{path}: the file is no Python module; its name should end in .py")
    module = importlib.util.module_from_spec(specification)
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{path}: the file cannot be run: {type(error).__name__}: {error}") from error
    model = getattr(module, "model", None)
    if not callable(model):
        raise InputError(f"{path}: the file defines no function model")
    levels = getattr(module, "LEVELS", {})
    if not isinstance(levels, dict):
        raise InputError(f"{path}: LEVELS is a {type(levels).__name__}, but should be a dictionary")
    return ModelFile(model, getattr(module, "guide", None), levels)


def records_of(program: ModelFile, table: Table) -> Records:
    """Match the model's parameters with the columns of a table by their names."""
    parameters = inspect.signature(program.model).parameters
    arrays = {name: table.column(name) for name in parameters if name in table.names}
    if REST in parameters and REST not in arrays:
        others = [table.column(name) for name in table.names if name not in arrays]
        if not others:
            raise InputError(f"the model's parameter {REST} stands for all other columns, but there are none")
        arrays[REST] = np.column_stack(others).astype(np.float32)
    columns = ", ".join(table.names)
    for name, parameter in parameters.items():
        if name not in arrays and parameter.default is inspect.Parameter.empty:
            raise InputError(f"the model's parameter {name} is no column; these are {columns}")
    outcomes = [name for name, parameter in parameters.items() if parameter.default is None and name != COUNT]
    if outcomes and not set(outcomes) & set(arrays):
        raise InputError(f"the model's outcome {outcomes[0]} is no column; these are {columns}")
    names = tuple(name for name in parameters if name in arrays)
    if not names:
        raise InputError(f"no parameter of the model is a column of the table; these are {columns}")
    return Records(
        names,
        tuple(arrays[name] for name in names),
        tuple(name for name in names if parameters[name].default is None),
        COUNT in parameters and COUNT not in arrays,
    )


class BoundProgram(NamedTuple):
    """Model and guide as functions of the records by position."""

    model: Callable[..., Any]
    guide: Callable[..., Any]


def bind(program: ModelFile, records: Records) -> BoundProgram:
    """Call both by the names of the records; without a guide the model gets NumPyro's `AutoNormal`."""

    def by_position(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *values: function(**dict(zip(records.names, values, strict=True)))

    model = by_position(program.model)
    return BoundProgram(model, AutoNormal(model) if program.guide is None else by_position(program.guide))
