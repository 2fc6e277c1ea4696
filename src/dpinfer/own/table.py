"""Tables of records: read from CSV, checked, and turned into numbers by rules that do not look at the records."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpinfer.errors import InputError

Levels = Mapping[str, Sequence[str]]
"""The values that each column of text may have, in the order of their codes 0, 1, ..."""


class Table(NamedTuple):
    """The records of a file, whose columns become numbers as they are asked for.

    Attributes:
        path: The file.
        frame: What it says.
        levels: What text may be.
    """

    path: Path
    frame: pd.DataFrame
    levels: Levels

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return [str(name) for name in self.frame.columns]

    def column(self, name: str) -> np.ndarray:
        """A column as numbers; text by its code among the levels that the model states.

        Codes that were read off the records would tell of them, and so would scales: neither is done here.
        """
        return _numbers(self.path, self.frame[name], self.levels.get(name))


def read_table(path: Path, levels: Levels) -> Table:
    """Read a CSV file with a header."""
    frame = _read(path)
    for name in levels:
        if name not in frame:
            raise InputError(f"{path}: LEVELS names the column {name}, which the table does not have")
    return Table(path, frame, levels)


def _read(path: Path) -> pd.DataFrame:
    try:
        # The header twice, since pandas renames what stands in it twice.
        header = pd.read_csv(path, header=None, nrows=1, dtype=str, skipinitialspace=True).iloc[0]
        frame = pd.read_csv(path, skipinitialspace=True)
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the file is not text in UTF-8") from error
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise InputError(f"{path}: the file is no table of comma-separated values: {error}") from error
    if header.isna().any():
        raise InputError(f"{path}: column {int(header.isna().argmax()) + 1} has no name")
    twice = header[header.duplicated()]
    if not twice.empty:
        raise InputError(f"{path}: there are two columns with the name {twice.iloc[0]}")
    if len(frame) < 2:
        raise InputError(f"{path}: the table has {len(frame)} records, but should have at least 2")
    return frame


def _numbers(path: Path, column: pd.Series, levels: Sequence[str] | None) -> np.ndarray:
    missing = column.isna().to_numpy()
    if missing.any():
        raise InputError(f"{path}: the column {column.name} has no value in record {int(missing.argmax()) + 1}")
    if levels is not None:
        codes = column.astype(str).str.strip().map({level: code for code, level in enumerate(levels)})
        unknown = codes.isna().to_numpy()
        if unknown.any():
            value = column.iloc[int(unknown.argmax())]
            raise InputError(f"{path}: the column {column.name} has the value {value}, which LEVELS lacks")
        return codes.to_numpy(np.int32)
    if column.dtype == bool:
        return column.to_numpy(np.int32)
    if not pd.api.types.is_numeric_dtype(column):
        raise InputError(
            f"{path}: the column {column.name} holds text: list its values in the model's file, "
            f'as LEVELS = {{"{column.name}": [...]}}'
        )
    values = column.to_numpy()
    finite = np.isfinite(values.astype(np.float64))
    if not finite.all():
        raise InputError(f"{path}: the column {column.name} is not finite in record {int(finite.argmin()) + 1}")
    return values.astype(np.int32 if np.issubdtype(values.dtype, np.integer) and _fits(values) else np.float32)


def _fits(values: np.ndarray) -> bool:
    """Whether whole numbers fit into 32 bits."""
    most = np.iinfo(np.int32)
    return bool((values >= most.min).all() and (values <= most.max).all())
