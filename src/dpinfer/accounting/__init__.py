"""Privacy accounting: what mechanisms release (`events`), accountants, calibration and the ledger.

Importing this package imports no accountant; `accountant(name)` loads one when it is needed.
"""

from __future__ import annotations

import importlib
from typing import cast

from dpinfer.accounting.base import Accountant
from dpinfer.errors import InputError

ACCOUNTANTS = ("gaussian", "pld", "fourier", "rdp", "moments", "advanced", "wang", "barker", "sgld")


def accountant(name: str) -> Accountant:
    """Return the accountant module of that name (see `base.Accountant` for its interface)."""
    if name not in ACCOUNTANTS:
        raise InputError(f"The accountant is {name!r}, but must be one of {', '.join(ACCOUNTANTS)}.")
    return cast(Accountant, importlib.import_module(f"dpinfer.accounting.{name}"))
