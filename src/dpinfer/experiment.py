"""From settings to what runs: the one file that sees every layer."""

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer import inference, models
from dpinfer.accounting.events import with_rate
from dpinfer.accounting.ledger import Claim, Ledger, ledger_from_dict
from dpinfer.atomic import read_json
from dpinfer.data.base import Dataset, read
from dpinfer.errors import InputError
from dpinfer.inference.base import Algorithm
from dpinfer.inference.correction import Correction, from_dict
from dpinfer.mechanism.aggregate import Form, aggregate
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import clip_only, exact
from dpinfer.mechanism.gaussian import gaussian, unclipped
from dpinfer.settings.cell import Descent, Dpsgd, Dpvi, Sampled
from dpinfer.settings.chain import Langevin, Metropolised
from dpinfer.settings.method import Method
from dpinfer.settings.pvi import PviClients
from dpinfer.settings.sgld import Sgld
from dpinfer.settings.yaml import parse
from dpinfer.types import Key, Records, Tree

CALIBRATED = (
    "experiment", "cell", "arm", "labels", "scale", "seed", "settings", "noise_multiplier", "correction", "start",
    "earlier", "stamp",
)  # fmt: skip
"""What a calibration says."""


class Given(NamedTuple):
    """What a cell is given by stages before it, where its method asks for it.

    Attributes:
        start: Leaves of the parameters that it starts from.
        correction: The rest of the logistic noise of its tests.
        earlier: What the records have paid for the start.
    """

    start: list[Any] | None = None
    correction: Correction | None = None
    earlier: Ledger | None = None


class OpenCell(NamedTuple):
    """A calibrated cell, ready to be fitted or evaluated.

    Attributes:
        job: What its calibration says: names, labels, scale, seed, noise.
        settings: Its settings.
        dataset: Its data.
        algorithm: Its algorithm, with the calibrated noise.
        given: What it was given by earlier stages.
    """

    job: dict[str, Any]
    settings: Method
    dataset: Dataset
    algorithm: Algorithm
    given: Given = Given()


def open_cell(calibration: Path, data: Path) -> OpenCell:
    """Read a cell's calibration and data, and build its algorithm.

    Raises:
        InputError: One of the files is not what its stage wrote.
    """
    job, dataset = read_json(calibration), read(data)
    missing = [key for key in CALIBRATED if not isinstance(job, dict) or key not in job]
    if missing:
        raise InputError(f"{calibration} is not a calibration written by this package: it has no {missing[0]}")
    del job["stamp"]
    settings: Method = parse(Method, job["settings"], calibration)
    given = _given(job)
    algorithm = build(settings, dataset.num_records, job["noise_multiplier"], given)
    return OpenCell(job, settings, dataset, algorithm, given)


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
    model = models.build(settings.model)
    if given.start is not None:
        model = model._replace(init=_start_at(model.init, given.start))
    return inference.build(settings.method, settings=settings, model=model, num_records=num_records, **noise)


def claim(settings: Method, num_records: int, noise_multiplier: float, num_steps: int | None = None) -> Claim:
    """What the paper says that a private cell, or its first steps, costs with that noise."""
    claimed = settings.claimed
    assert settings.delta is not None
    event = build(settings.as_claimed(), num_records, claimed.noise_factor * noise_multiplier).event(
        num_steps or settings.num_steps
    )
    return Claim(
        event=event if claimed.sampling_rate is None else with_rate(event, claimed.sampling_rate),
        accountant=settings.accountant,
        delta=claimed.delta or settings.delta,
        adjacency=claimed.adjacency or settings.adjacency,
        factor=claimed.epsilon_factor,
        options=dict(claimed.options),
    )


def _given(job: Mapping[str, Any]) -> Given:
    """Read from a calibration what earlier stages gave."""
    correction, earlier = job["correction"], job["earlier"]
    return Given(
        job["start"],
        None if correction is None else from_dict(correction),
        None if earlier is None else ledger_from_dict(earlier),
    )


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
        form: Form = "printed" if settings.clipping == "mean_printed" else "code"
        return aggregate(settings.clip, noise_multiplier, settings.expected_batch, form)
    if noise_multiplier is not None and isinstance(settings, Sgld) and not settings.clipped:
        return unclipped(settings.clip, noise_multiplier)
    if noise_multiplier is not None:
        return gaussian(settings.clip, noise_multiplier, examples_per_record=examples_per_record)
    if isinstance(settings, Sampled) and settings.clip_without_noise:
        return clip_only(settings.clip, examples_per_record=examples_per_record)
    return exact()


def key_of(seed: int, experiment: str, cell: str) -> Key:
    """The key of a cell: it follows from its name, so that no other cell of the grid has a say in it."""
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(f"{experiment}/{cell}".encode()))
