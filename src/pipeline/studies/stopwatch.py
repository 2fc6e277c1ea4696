"""Timing programs against each other: compiled before, run in turns, so that a busy machine slows all alike."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import numpy as np

from pipeline.studies import Row

Program = Callable[[], Any]


def seconds(programs: Mapping[str, Program], rounds: int) -> dict[str, np.ndarray]:
    """(rounds,) seconds that each program takes; the first call of each, which compiles it, does not count."""
    for program in programs.values():
        jax.block_until_ready(program())
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            start = time.perf_counter()
            jax.block_until_ready(program())
            taken[name].append(time.perf_counter() - start)
    return {name: np.array(values) for name, values in taken.items()}


def rows(times: Mapping[str, np.ndarray], reference: str, unit: str) -> Iterator[Row]:
    """Median and quartiles of each program's time, and the median over rounds of its ratio to the reference's.

    Args:
        times: (rounds,) for each program, in `unit`.
        reference: The program that the others are compared with.
        unit: What the metric of the times is called.
    """
    device = jax.devices()[0].device_kind
    for name, values in times.items():
        low, middle, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
        ratio = float(np.median(values / times[reference]))
        for metric, value in {unit: middle, f"{unit}_low": low, f"{unit}_high": high, "ratio": ratio}.items():
            yield {"program": name, "device": device, "metric": metric, "value": value}
