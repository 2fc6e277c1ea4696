"""Records of clients for the tests of partitioned variational inference."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from dpinfer.data import load
from dpinfer.settings.data import LinearShards
from dpinfer.settings.model import Linear
from dpinfer.settings.pvi import PviClients, PviRecords

DATA = LinearShards(
    clients=3, records_per_client=(20, 50, 30), theta=(-1.0, 2.0), noise_std=1.0, input_shift=(-1.0, 0.0, 2.0)
)
CLIENTS = PviClients(
    data=DATA, model=Linear(noise_std=1.0), num_steps=40, noise_multiplier=1.0, delta=1e-4, clip=50.0
)
OF_RECORDS = PviRecords(
    data=DATA, model=Linear(noise_std=1.0), num_steps=40, noise_multiplier=1.0, delta=1e-4, clip=5.0,
    expected_batch=10, local_steps=3, optimiser="sgd", learning_rate=0.1,
)  # fmt: skip


def clients(**changes: Any) -> PviClients:
    return dataclasses.replace(CLIENTS, **changes)


def of_records(**changes: Any) -> PviRecords:
    return dataclasses.replace(OF_RECORDS, **changes)


def no_files(name: str) -> Any:
    raise AssertionError(name)


def records(data: LinearShards = DATA) -> dict[str, jax.Array]:
    return {key: jnp.asarray(value) for key, value in load(data, no_files).train.items()}
