"""From settings to what runs: the one file that sees every layer."""

import zlib
from pathlib import Path
from typing import Any, NamedTuple

import jax

from dpinfer import inference, models
from dpinfer.accounting.ledger import Claim
from dpinfer.atomic import read_json
from dpinfer.data.base import Dataset, read
from dpinfer.inference.base import Algorithm
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import clip_only, exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.settings.cell import Sampled
from dpinfer.settings.method import Method
from dpinfer.settings.yaml import parse
from dpinfer.types import Key


class OpenCell(NamedTuple):
    """A calibrated cell, ready to be fitted or evaluated.

    Attributes:
        job: What its calibration says: names, labels, scale, seed, noise.
        settings: Its settings.
        dataset: Its data.
        algorithm: Its algorithm, with the calibrated noise.
    """

    job: dict[str, Any]
    settings: Method
    dataset: Dataset
    algorithm: Algorithm


def open_cell(calibration: Path, data: Path) -> OpenCell:
    """Read a cell's calibration and data, and build its algorithm."""
    job = read_json(calibration)
    del job["stamp"]
    settings: Method = parse(Method, job["settings"], calibration)
    dataset = read(data)
    return OpenCell(job, settings, dataset, build(settings, dataset.num_records, job["noise_multiplier"]))


def build(settings: Method, num_records: int, noise_multiplier: float | None) -> Algorithm:
    """Build a cell's algorithm.

    Args:
        settings: The cell's settings.
        num_records: Size of the training data, which is public.
        noise_multiplier: Noise standard deviation over clip; None runs without privacy.
    """
    return inference.build(
        settings.method,
        settings=settings,
        model=models.build(settings.model),
        mechanism=_mechanism(settings, noise_multiplier),
        num_records=num_records,
    )


def claim(settings: Method, num_records: int, noise_multiplier: float, num_steps: int | None = None) -> Claim:
    """What the paper says that a private cell, or its first steps, costs with that noise."""
    claimed = settings.claimed
    assert settings.delta is not None
    return Claim(
        event=build(settings.as_claimed(), num_records, claimed.noise_factor * noise_multiplier).event(
            num_steps or settings.num_steps
        ),
        accountant=settings.accountant,
        delta=claimed.delta or settings.delta,
        adjacency=claimed.adjacency or settings.adjacency,
        factor=claimed.epsilon_factor,
        options=dict(claimed.options),
    )


def _mechanism(settings: Method, noise_multiplier: float | None) -> Mechanism:
    if noise_multiplier is not None:
        return gaussian(settings.clip, noise_multiplier)
    if isinstance(settings, Sampled) and settings.clip_without_noise:
        return clip_only(settings.clip)
    return exact()


def key_of(seed: int, experiment: str, cell: str) -> Key:
    """The key of a cell: it follows from its name, so that no other cell of the grid has a say in it."""
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(f"{experiment}/{cell}".encode()))
