"""Differentially private Bayesian inference in JAX.

The names below are loaded when they are first asked for, so that importing the package is quick and needs no JAX.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpinfer.accounting.budget import Budget
    from dpinfer.accounting.calibrate import noise_multiplier
    from dpinfer.accounting.ledger import Ledger
    from dpinfer.clipping import clipped_grad, explain
    from dpinfer.random.chacha import system_key
    from dpinfer.svi import DPSVI
    from dpinfer.training import Loader, private

__version__ = "0.1.0"
__all__ = [
    "DPSVI",
    "Budget",
    "Ledger",
    "Loader",
    "__version__",
    "clipped_grad",
    "explain",
    "noise_multiplier",
    "private",
    "system_key",
]

_MODULES = {
    "Budget": "dpinfer.accounting.budget",
    "DPSVI": "dpinfer.svi",
    "Ledger": "dpinfer.accounting.ledger",
    "Loader": "dpinfer.training",
    "clipped_grad": "dpinfer.clipping",
    "explain": "dpinfer.clipping",
    "noise_multiplier": "dpinfer.accounting.calibrate",
    "private": "dpinfer.training",
    "system_key": "dpinfer.random.chacha",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
