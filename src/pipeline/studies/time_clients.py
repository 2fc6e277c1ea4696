"""What a round of private PVI costs when the same records are dealt out to few or to many clients."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp

from dpinfer.inference import pvi_records
from dpinfer.inference.run import keys_for, start
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import linear
from pipeline.datasets.base import Fetched
from pipeline.datasets.generated import linear_shards
from pipeline.settings.data import LinearShards
from pipeline.settings.study import TimeClients
from pipeline.studies import Row, stopwatch

KEY = 0
NOISE_MULTIPLIER = 1.0  # any: noise costs the same whatever its scale
CLIP = 5.0


def rows(settings: TimeClients) -> Iterator[Row]:
    """Milliseconds for a round of all clients, relative to that of few.

    `few` and `many` run all their clients side by side in one program. `turns` has many as well, whose rounds
    are called from Python for one client after the other, as separate processes would be.
    """
    alone = _round(settings, 1, settings.records // settings.many)
    programs = {
        "few": _round(settings, settings.few, settings.records // settings.few),
        "many": _round(settings, settings.many, settings.records // settings.many),
        "turns": lambda: [alone() for _ in range(settings.many)],
    }
    times = stopwatch.seconds(programs, settings.rounds)
    per_round = {name: values / settings.num_rounds * 1e3 for name, values in times.items()}
    return stopwatch.rows(per_round, "few", "milliseconds")


def _round(settings: TimeClients, clients: int, shard: int) -> stopwatch.Program:
    source = LinearShards(clients=clients, records_per_client=shard, theta=(-1.0, 2.0), noise_std=1.0)
    train = linear_shards(source, _no_files).train
    algorithm = pvi_records.build(
        linear.build(noise_std=1.0), gaussian(CLIP, NOISE_MULTIPLIER), clients * shard, sizes=(shard,) * clients,
        num_steps=settings.num_rounds, expected_batch=max(1, round(settings.rate * shard)), clip=CLIP,
        local_steps=settings.local_steps, learning_rate=0.03,
    )  # fmt: skip
    records = {name: jnp.asarray(array) for name, array in train.items()}
    started = start(algorithm, keys_for(jax.random.key(KEY), 1), records)
    return lambda: jax.block_until_ready(started.advance(started.states, 0, settings.num_rounds))


def _no_files(name: str) -> Fetched:
    raise AssertionError(f"{name} is generated")
