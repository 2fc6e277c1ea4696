"""From settings to what runs: the one file that sees every layer."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.events import Event, with_rate
from dpinfer.atomic import read_json
from dpinfer.errors import InputError
from dpinfer.inference.base import Algorithm
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import clip_only, exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.types import Key, Records, Tree
from pipeline import registry
from pipeline.datasets.base import Dataset, read
from pipeline.derived import as_claimed, is_private
from pipeline.settings.cell import Descent, Dpsgd, Dpvi, Gan, Sampled
from pipeline.settings.chain import Langevin, Metropolised, Sgld
from pipeline.settings.data import AdultShards, Data, LinearShards
from pipeline.settings.method import Method
from pipeline.settings.model import GanModel
from pipeline.settings.pvi import Federation, PviClients
from pipeline.settings.yaml import parse

FITTED = ("experiment", "cell", "seed", "settings", "noise_multiplier", "correction", "start", "releases", "stamp")
"""What the stamp of a fit says."""


class Given(NamedTuple):
    """What a cell is given by stages before it, where its method asks for it.

    Attributes:
        start: Leaves of the parameters that it starts from.
        correction: The rest of the logistic noise of its tests.
    """

    start: list[Any] | None = None
    correction: Any = None


class OpenCell(NamedTuple):
    """A calibrated cell, ready to be fitted or evaluated.

    Attributes:
        job: Its names, its seed, its noise, and what it was given.
        settings: Its settings.
        dataset: Its data.
        algorithm: Its algorithm, with the calibrated noise.
    """

    job: dict[str, Any]
    settings: Method
    dataset: Dataset
    algorithm: Algorithm


def read_cell(stamp: Path, data: Path) -> OpenCell:
    """Read what was fitted to what data, and build its algorithm.

    Raises:
        InputError: One of the files is not what its stage wrote.
    """
    job = read_json(stamp)
    missing = [key for key in FITTED if not isinstance(job, dict) or key not in job]
    if missing:
        raise InputError(f"{stamp} is not the stamp of a fit written by this package: it has no {missing[0]}")
    return open_cell(job, data, stamp)


def open_cell(job: dict[str, Any], data: Path, where: Path | str) -> OpenCell:
    """Read a cell's data, and build its algorithm.

    Args:
        job: Its names, its seed, its noise, and what it is given.
        data: The .npz of its data set.
        where: Where its settings are from, for the sentence that says what is wrong with them.
    """
    dataset = read(data)
    settings: Method = parse(Method, job["settings"], where)
    correction = job["correction"]
    given = Given(job["start"], None if correction is None else registry.correction(correction))
    algorithm = build(settings, dataset.num_records, job["noise_multiplier"], given)
    return OpenCell(job, settings, dataset, algorithm)


def build(
    settings: Method, num_records: int, noise_multiplier: float | None, given: Given | None = None
) -> Algorithm:
    """Build a cell's algorithm.

    Args:
        settings: The cell's settings.
        num_records: Size of the training data, which is public.
        noise_multiplier: Noise standard deviation over clip; None runs without privacy.
        given: What it is given by earlier stages; without it, the algorithm may state its event but not run.
    """
    given = given or Given()
    # A test adds its noise to one number, all other methods to a gradient.
    noise: dict[str, Any] = (
        {"noise_multiplier": noise_multiplier, "correction": given.correction}
        if isinstance(settings, Metropolised)
        else {"mechanism": _mechanism(settings, noise_multiplier)}
    )
    model = registry.model(settings.model)
    if given.start is not None:
        model = model._replace(init=_start_at(model.init, given.start))
    return registry.algorithm(
        settings,
        model=model,
        num_records=num_records,
        is_private=is_private(settings),
        **noise,
        **_from_elsewhere(settings, num_records),
    )


def _from_elsewhere(settings: Method, num_records: int) -> dict[str, Any]:
    """What an algorithm asks for that its data or its model says."""
    if isinstance(settings, Federation):
        return {"sizes": sizes_of(settings.data, num_records)}
    if isinstance(settings, Gan):
        assert isinstance(settings.model, GanModel)
        own = settings.model
        return {"image": own.image, "latent": own.latent, "generator": own.generator}
    return {}


def sizes_of(data: Data, num_records: int) -> tuple[int, ...]:
    """How many records each client has, which is public; data that is not dealt out belongs to one client."""
    match data:
        case LinearShards():
            given = data.records_per_client
            return given if isinstance(given, tuple) else (given,) * data.clients
        case AdultShards():
            return tuple(len(part) for part in np.array_split(range(num_records), data.clients))
        case _:
            return (num_records,)


def claimed(settings: Method, num_records: int, noise_multiplier: float | None) -> Callable[[int], Event]:
    """What the first steps of a run release as the paper's account sees it, by their number."""
    if noise_multiplier is None:
        return build(settings, num_records, None).event
    departing = settings.claimed
    seen = build(as_claimed(settings), num_records, departing.noise_factor * noise_multiplier).event
    rate = departing.sampling_rate
    return seen if rate is None else lambda num_steps: with_rate(seen(num_steps), rate)


def _start_at(init: Callable[[Key, Records], Tree], leaves: list[Any]) -> Callable[[Key, Records], Tree]:
    """Start where those leaves say, in the shape that the model's own start has."""

    def start(key: Key, records: Records) -> Tree:
        like, structure = jax.tree.flatten(jax.eval_shape(init, key, records))
        values = [jnp.asarray(leaf, own.dtype) for leaf, own in zip(leaves, like, strict=True)]
        return jax.tree.unflatten(structure, values)

    return start


def _mechanism(settings: Descent | Sampled | Langevin | PviClients, noise_multiplier: float | None) -> Mechanism:
    examples_per_record = settings.draws if isinstance(settings, Dpvi) else 1
    if noise_multiplier is not None and isinstance(settings, Dpsgd) and settings.clipping != "record":
        form = "printed" if settings.clipping == "mean_printed" else "code"
        return registry.unsafe("aggregate", settings.clip, noise_multiplier, settings.expected_batch, form)
    if noise_multiplier is not None and isinstance(settings, Sgld) and not settings.clipped:
        return registry.unsafe("unclipped", settings.clip, noise_multiplier)
    if noise_multiplier is not None:
        return gaussian(settings.clip, noise_multiplier, examples_per_record=examples_per_record)
    if isinstance(settings, Sampled) and settings.clip_without_noise:
        return clip_only(settings.clip, examples_per_record=examples_per_record)
    return exact()


def key_of(seed: int, experiment: str, cell: str) -> Key:
    """The key of a cell: it follows from its name, so that no other cell of the grid has a say in it."""
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(f"{experiment}/{cell}".encode()))
