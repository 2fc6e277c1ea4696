"""Studies of time: what a minibatch, a step of DP-VI and a round of private PVI cost.

Programs are compiled before, and run in turns, so that a busy machine slows all alike.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.inference import dpvi, pvi_records
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import keys_for, run, start
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import hierarchical as hierarchical_model
from dpinfer.models import linear
from dpinfer.sampling.base import Sampler
from dpinfer.sampling.fixed_size import choice, subset
from dpinfer.sampling.poisson import poisson
from dpinfer.types import Key, Records
from pipeline.datasets.base import Fetched
from pipeline.datasets.generated import hierarchical, linear_shards
from pipeline.settings.data import HierarchicalData, LinearShards
from pipeline.settings.study import TimeClients, TimeSampling, TimeSteps
from pipeline.studies import Row

Program = Callable[[], Any]
KEY = 0
CLIENT_NOISE = 1.0  # any: noise costs the same whatever its scale
CLIENT_CLIP = 5.0
STEP_CLIP = 1.0
STEP_NOISE = 10.0  # any: noise costs the same whatever its scale
CHUNKS = 50
"""One measurement is the call of a fiftieth of the run, as the loop itself makes them."""


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


def summary(times: Mapping[str, np.ndarray], reference: str, unit: str) -> Iterator[Row]:
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


def time_clients(settings: TimeClients) -> Iterator[Row]:
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
    times = seconds(programs, settings.rounds)
    per_round = {name: values / settings.num_rounds * 1e3 for name, values in times.items()}
    return summary(per_round, "few", "milliseconds")


def _round(settings: TimeClients, clients: int, shard: int) -> Program:
    source = LinearShards(clients=clients, records_per_client=shard, theta=(-1.0, 2.0), noise_std=1.0)
    train = linear_shards(source, _no_files).train
    algorithm = pvi_records.build(
        linear.build(noise_std=1.0), gaussian(CLIENT_CLIP, CLIENT_NOISE), clients * shard,
        sizes=(shard,) * clients, num_steps=settings.num_rounds, clip=CLIENT_CLIP,
        expected_batch=max(1, round(settings.rate * shard)),
        local_steps=settings.local_steps, learning_rate=0.03,
    )  # fmt: skip
    records = {name: jnp.asarray(array) for name, array in train.items()}
    started = start(algorithm, keys_for(jax.random.key(KEY), 1), records)
    return lambda: jax.block_until_ready(started.advance(started.states, 0, settings.num_rounds))


def _no_files(name: str) -> Fetched:
    raise AssertionError(f"{name} is generated")


class Timed(NamedTuple):
    """A way to draw batches, and how many are drawn for one measurement: more, where one takes little time."""

    draw: Callable[[Key], jax.Array]
    times: int


def time_sampling(settings: TimeSampling) -> Iterator[Row]:
    """Microseconds for one minibatch in a compiled loop, relative to Poisson sampling by count and permutation."""
    ways = _ways(settings)
    programs = {name: _program(way) for name, way in ways.items()}
    times = seconds(programs, settings.rounds)
    per_batch = {name: values / ways[name].times * 1e6 for name, values in times.items()}
    return summary(per_batch, "poisson", "microseconds")


def _ways(settings: TimeSampling) -> dict[str, Timed]:
    num_records, batch, draws = settings.records, settings.batch, settings.draws
    rate = batch / num_records
    ways = {
        "poisson": Timed(_rows_of(poisson(num_records, rate, draws)), draws),
        "subset": Timed(_rows_of(subset(num_records, batch)), draws),
    }
    if settings.builtin:
        few = max(1, draws // num_records)
        ways["choice"] = Timed(_rows_of(choice(num_records, batch)), few)
        ways["bernoulli"] = Timed(lambda key: jax.random.bernoulli(key, rate, (num_records,)), 10 * few)
    return ways


def _rows_of(sampler: Sampler) -> Callable[[Key], jax.Array]:
    return lambda key: sampler.draw(key).rows


def _program(way: Timed) -> Program:
    """Draw batches one after the other; their sum keeps the compiler from leaving any out."""

    @jax.jit
    def program(key: Key) -> jax.Array:
        def one(total: jax.Array, step: jax.Array) -> tuple[jax.Array, None]:
            return total + way.draw(jax.random.fold_in(key, step)).sum(dtype=jnp.uint32), None

        return jax.lax.scan(one, jnp.uint32(0), jnp.arange(way.times))[0]

    return lambda: program(jax.random.key(KEY))


def time_steps(settings: TimeSteps) -> Iterator[Row]:
    """Microseconds for a step of a seed, relative to that of all seeds in one program; seconds for a run."""
    algorithm, records = _problem(settings)
    length = settings.num_steps // CHUNKS
    programs = {
        "seeds": _scan(algorithm, records, settings.seeds, length),
        "seed": _scan(algorithm, records, 1, length),
        "loop": _loop(algorithm, records, settings.loop_steps),
    }
    steps = {"seeds": length * settings.seeds, "seed": length, "loop": settings.loop_steps}
    times = seconds(programs, settings.rounds)
    per_step = {name: values / steps[name] * 1e6 for name, values in times.items()}
    yield from summary(per_step, "seeds", "microseconds")
    before = time.perf_counter()
    jax.block_until_ready(run(algorithm, jax.random.key(KEY), records, settings.num_steps))
    yield {"program": "run", "metric": "seconds", "value": time.perf_counter() - before}


def _problem(settings: TimeSteps) -> tuple[Algorithm, Records]:
    train = hierarchical(HierarchicalData(records=settings.records), _no_files).train
    algorithm = dpvi.build(
        hierarchical_model.build(), gaussian(STEP_CLIP, STEP_NOISE), settings.records, sampler=settings.sampler,
        expected_batch=settings.expected_batch, num_steps=settings.num_steps,
    )  # fmt: skip
    return algorithm, {name: jnp.asarray(array) for name, array in train.items()}


def _scan(algorithm: Algorithm, records: Records, seeds: int, length: int) -> Program:
    """All seeds in one compiled program."""
    started = start(algorithm, keys_for(jax.random.key(KEY), seeds), records)
    return lambda: started.advance(started.states, 0, length)


def _loop(algorithm: Algorithm, records: Records, length: int) -> Program:
    """A loop in Python over a compiled step, as in the listings of most libraries."""
    key = jax.random.key(KEY)
    first = algorithm.init(key, records)
    step = jax.jit(lambda number, state: algorithm.step(jax.random.fold_in(key, number), state, records)[0])

    def program() -> object:
        state = first
        for number in range(length):
            state = step(number, state)
        return state

    return program


ROWS = {"time_clients": time_clients, "time_sampling": time_sampling, "time_steps": time_steps}
