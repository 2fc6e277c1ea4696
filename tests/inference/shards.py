"""Records of clients for the tests of partitioned variational inference."""

from typing import Any

import jax
import jax.numpy as jnp

from dpinfer.inference import pvi_clients, pvi_records
from dpinfer.inference.base import Algorithm
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.exact import exact
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import linear
from pipeline.datasets import load
from pipeline.settings.data import LinearShards
from pipeline.settings.model import Linear
from pipeline.settings.pvi import PviRecords

SIZES = (20, 50, 30)
DATA = LinearShards(
    clients=3, records_per_client=SIZES, theta=(-1.0, 2.0), noise_std=1.0, input_shift=(-1.0, 0.0, 2.0)
)
MODEL = linear.build(noise_std=1.0)
OF_RECORDS: dict[str, Any] = {
    "num_steps": 40, "clip": 5.0, "expected_batch": 10, "local_steps": 3, "optimiser": "sgd", "learning_rate": 0.1,
}  # fmt: skip


def mechanism_of(noise_multiplier: float | None) -> Mechanism:
    """Clients have clips of their own: of the mechanism they take the noise alone."""
    return exact() if noise_multiplier is None else gaussian(1.0, noise_multiplier)


def clients(mechanism: Mechanism, **changes: Any) -> Algorithm:
    stated = {"sizes": SIZES, "num_steps": 40, "clip": 50.0, **changes}
    return pvi_clients.build(MODEL, mechanism, sum(stated["sizes"]), **stated)


def of_records(mechanism: Mechanism, **changes: Any) -> Algorithm:
    stated = {"model": MODEL, "sizes": SIZES, **OF_RECORDS, **changes}
    return pvi_records.build(stated.pop("model"), mechanism, sum(stated["sizes"]), **stated)


def settings_of_records(**changes: Any) -> PviRecords:
    return PviRecords(
        **{
            "data": DATA, "model": Linear(noise_std=1.0), "noise_multiplier": 1.0, "delta": 1e-4, **OF_RECORDS,
            **changes,
        }
    )  # fmt: skip


def no_files(name: str) -> Any:
    raise AssertionError(name)


def records(data: LinearShards = DATA) -> dict[str, jax.Array]:
    return {key: jnp.asarray(value) for key, value in load(data, no_files).train.items()}
