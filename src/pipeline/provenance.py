"""The stamp beside every artifact: settings, code, the modules that ran, versions, device and the time taken."""

import hashlib
import importlib.metadata
import platform
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpinfer.atomic import write_json
from pipeline.digest import PACKAGES

LIBRARIES = (
    "dp-accounting",
    "dpinfer",
    "fourier-accountant",
    "jax",
    "jaxlib",
    "matplotlib",
    "numpy",
    "numpyro",
    "optax",
    "pandas",
    "scipy",
    "snakemake",
)
LOCK = Path(__file__).parents[2] / "requirements.lock"


class Stamp:
    """Measures the time since it was made, and writes what made an artifact.

    Args:
        code: Digest of the code that runs; `none` when a stage is called by hand.
    """

    def __init__(self, code: str) -> None:
        self._code = code
        self._start = time.perf_counter()

    def write(self, path: Path, **content: Any) -> None:
        """Write `content` and the stamp, as one JSON file."""
        write_json(path, {**content, "stamp": self.describe()})

    def describe(self) -> Mapping[str, Any]:
        """Code, modules of ours that were loaded, environment, device and seconds since the start."""
        return {
            "code": self._code,
            "modules": sorted(name for name in sys.modules if name.partition(".")[0] in PACKAGES),
            "python": platform.python_version(),
            "lock": _lock(),
            "packages": {name: importlib.metadata.version(name) for name in LIBRARIES},
            "machine": f"{platform.system()} {platform.machine()}",
            "device": _device(),
            "seconds": round(time.perf_counter() - self._start, 3),
        }


def _device() -> str:
    """What JAX computed on; a stage that never imported JAX ran on the host."""
    jax = sys.modules.get("jax")
    return ", ".join(sorted({device.device_kind for device in jax.devices()})) if jax else "host"


def _lock() -> str | None:
    """Digest of the file that pins every package; None where there is no such file, as in an installed package."""
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16] if LOCK.is_file() else None
