"""What a fit leaves in its folder: what is private beside what is for the owner's eyes alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd

from dpinfer.accounting.ledger import Ledger
from dpinfer.atomic import replacing, write_json
from dpinfer.table.posterior import Fitted

LEDGER = "ledger.json"
UNPROTECTED = "unprotected"
"""The folder of what no epsilon covers."""


def posterior(folder: Path, fitted: Fitted, ledger: Ledger) -> None:
    """Write draws, parameters, a summary and the ledger: all of it may be released."""
    with replacing(folder / "posterior.npz") as temporary:
        # A leading axis for the one chain, as ArviZ expects it: az.from_dict(dict(np.load(...))).
        np.savez(temporary, allow_pickle=False, **{name: value[None] for name, value in fitted.draws.items()})
    _table(folder / "parameters.csv", list(_entries(fitted.result.params)))
    _table(folder / "summary.csv", list(_summary(fitted.draws)))
    ledger.write(folder / LEDGER)


def twin(folder: Path, columns: dict[str, np.ndarray]) -> None:
    """Write a synthetic table, which may be released as well."""
    rows = zip(*(value.tolist() for value in columns.values()), strict=True)
    _table(folder / "synthetic.csv", [dict(zip(columns, row, strict=True)) for row in rows])


def unprotected(folder: Path, fitted: Fitted, check: list[dict[str, Any]]) -> None:
    """Write what looks at the records without noise."""
    own = folder / UNPROTECTED
    write_json(own / "diagnostics.json", fitted.diagnostics)
    losses = np.asarray(fitted.result.losses)
    _table(own / "loss.csv", [{"step": step, "loss": loss} for step, loss in enumerate(losses.tolist(), start=1)])
    _table(own / "predictive_check.csv", check)


def _entries(parameters: dict[str, jax.Array]) -> Iterator[dict[str, Any]]:
    for name, value in parameters.items():
        for index, entry in np.ndenumerate(np.asarray(value)):
            yield {"parameter": name, "index": " ".join(map(str, index)), "value": float(entry)}


def _summary(draws: dict[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    for name, value in draws.items():
        for index in np.ndindex(value.shape[1:]):
            own = value[(slice(None), *index)].astype(np.float64)
            low, high = np.quantile(own, (0.05, 0.95))
            yield {
                "site": name, "index": " ".join(map(str, index)), "mean": own.mean(), "sd": own.std(),
                "low": low, "high": high,
            }  # fmt: skip


def _table(path: Path, rows: list[dict[str, Any]]) -> None:
    with replacing(path) as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False)
