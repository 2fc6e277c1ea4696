"""Tables of records: read from CSV, checked, and turned into numbers by rules that do not look at the records."""

import hashlib
import warnings
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

    @property
    def digest(self) -> str:
        """What tells these records from any others, in whatever order and spelling rows and columns stand."""
        spelt = self.frame[sorted(self.names)].apply(_spelt)
        rows = np.sort(pd.util.hash_pandas_object(spelt, index=False).to_numpy())
        return hashlib.sha256(repr(sorted(self.names)).encode() + rows.tobytes()).hexdigest()

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
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # Else pandas takes what stands first for names of the records, and moves all columns by one.
            frame = pd.read_csv(path, skipinitialspace=True, index_col=False)
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: the file is not text in UTF-8") from error
    except pd.errors.ParserWarning as error:
        raise InputError(f"{path}: a record has more values than the header has names") from error
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise InputError(f"{path}: the file is no table of comma-separated values: {error}") from error
    if header.isna().any():
        raise InputError(f"{path}: column {int(header.isna().argmax()) + 1} has no name")
    twice = header[header.duplicated()]
    if not twice.empty:
        raise InputError(f"{path}: there are two columns with the name {twice.iloc[0]}")
    if len(frame) < 2:
        raise InputError(f"{path}: the table has {len(frame)} records, but should have at least 2")
    again = (frame.astype(str) == header.to_numpy()).all(axis=1).to_numpy()
    if again.any():
        raise InputError(f"{path}: record {int(again.argmax()) + 1} is the header once more")
    return frame


def _spelt(column: pd.Series) -> pd.Series:
    """A column as text, in which 1, 1.0 and True are the same, as they are for a model."""
    same = column.astype(np.float64) if pd.api.types.is_numeric_dtype(column) else column
    return same.astype(str).str.strip()


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
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.isna().any() or np.iscomplexobj(numbers):
        raise InputError(
            f"{path}: the column {column.name} holds text: list its values in the model's file, "
            f'as LEVELS = {{"{column.name}": [...]}}'
        )
    values = numbers.to_numpy()
    if np.issubdtype(values.dtype, np.integer) and _fits(values):
        return values.astype(np.int32)
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    for problem, right in (
        ("not finite", np.isfinite(values.astype(np.float64))),
        ("too large for 32 bits", np.isfinite(short)),
    ):
        if not right.all():
            raise InputError(f"{path}: the column {column.name} is {problem} in record {int(right.argmin()) + 1}")
    return short


def _fits(values: np.ndarray) -> bool:
    """Whether whole numbers fit into 32 bits."""
    most = np.iinfo(np.int32)
    return bool((values >= most.min).all() and (values <= most.max).all())
