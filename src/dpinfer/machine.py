"""The machine: what JAX is told of it before anything imports JAX, and where the user's cache is."""

import hashlib
import os
import platform
import sys
from pathlib import Path

import platformdirs

from dpinfer.errors import InputError

DEVICE, CACHE = "DPINFER_DEVICE", "DPINFER_CACHE"
PLATFORMS = {"auto": None, "cpu": "cpu", "gpu": "gpu"}


def prepare(device: str) -> None:
    """Choose what JAX computes on and let it keep compiled programs; variables that are set already hold.

    Every core is a device of its own, so that the repetitions of a fit are spread over cores as over GPUs.
    """
    chosen = PLATFORMS[device]
    if chosen is not None:
        os.environ["JAX_PLATFORMS"] = chosen
    os.environ.setdefault("JAX_NUM_CPU_DEVICES", str(_cores()))
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_programs()))
    # JAX keeps only what took a second; cells of a grid share many programs that took less.
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")


def require(device: str) -> None:
    """Stop where a stage needs JAX and JAX cannot compute on the device that was asked for."""
    jax = sys.modules.get("jax")
    try:
        if jax is not None:
            jax.devices()
    except RuntimeError as error:
        raise InputError(f"device is {device}, but JAX finds none on this machine") from error


def cache_dir() -> Path:
    """The user's folder for what can be fetched or made again."""
    return Path(os.environ.get(CACHE) or platformdirs.user_cache_dir("dpinfer"))


def _cores() -> int:
    """The cores that this process may use: a cluster's scheduler often grants fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _programs() -> Path:
    """A folder for each kind of processor, since a program compiled for one may not run on another."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.is_file() else []
    kind = next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    name = hashlib.sha256(kind.encode()).hexdigest()[:12]
    return cache_dir() / "jax" / name
