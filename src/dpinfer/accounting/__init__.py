"""Privacy accounting: what mechanisms release (`events`), accountants, calibration and the ledger.

Accountants stand in two rooms: `sound`, whose values are guarantees, and `published`, whose values are not.
Importing this package imports none of it; `accountant(name)` loads an accountant when it is needed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from dpinfer.errors import InputError

if TYPE_CHECKING:
    from dpinfer.accounting.base import Accountant

ACCOUNTANTS = {
    "gaussian": "dpinfer.accounting.sound.gaussian",
    "pld": "dpinfer.accounting.sound.pld",
    "fourier": "dpinfer.accounting.published.fourier",
    "rdp": "dpinfer.accounting.sound.rdp",
    "moments": "dpinfer.accounting.sound.moments",
    "advanced": "dpinfer.accounting.published.advanced",
    "wang": "dpinfer.accounting.sound.wang",
    "barker": "dpinfer.accounting.sound.barker",
    "sgld": "dpinfer.accounting.published.sgld",
}
"""The module of each accountant."""


def accountant(name: str) -> Accountant:
    """Return the accountant module of that name (see `base.Accountant` for its interface)."""
    if name not in ACCOUNTANTS:
        raise InputError(f"The accountant is {name!r}, but must be one of {', '.join(ACCOUNTANTS)}.")
    return cast("Accountant", importlib.import_module(ACCOUNTANTS[name]))
