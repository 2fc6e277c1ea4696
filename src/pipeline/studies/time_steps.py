"""What a step of DP-VI costs on hierarchical logistic regression, and how long a whole run takes."""

import time
from collections.abc import Iterator

import jax
import jax.numpy as jnp

from dpinfer.inference import dpvi
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import keys_for, run, start
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.models import hierarchical as hierarchical_model
from dpinfer.types import Records
from pipeline.datasets.base import Fetched
from pipeline.datasets.generated import hierarchical
from pipeline.settings.data import Hierarchical
from pipeline.settings.study import TimeSteps
from pipeline.studies import Row, stopwatch

KEY = 0
CLIP = 1.0
NOISE_MULTIPLIER = 10.0  # any: noise costs the same whatever its scale
CHUNKS = 50
"""One measurement is the call of a fiftieth of the run, as the loop itself makes them."""


def rows(settings: TimeSteps) -> Iterator[Row]:
    """Microseconds for a step of a seed, relative to that of all seeds in one program; seconds for a run."""
    algorithm, records = _problem(settings)
    length = settings.num_steps // CHUNKS
    programs = {
        "seeds": _scan(algorithm, records, settings.seeds, length),
        "seed": _scan(algorithm, records, 1, length),
        "loop": _loop(algorithm, records, settings.loop_steps),
    }
    steps = {"seeds": length * settings.seeds, "seed": length, "loop": settings.loop_steps}
    times = stopwatch.seconds(programs, settings.rounds)
    per_step = {name: values / steps[name] * 1e6 for name, values in times.items()}
    yield from stopwatch.rows(per_step, "seeds", "microseconds")
    before = time.perf_counter()
    jax.block_until_ready(run(algorithm, jax.random.key(KEY), records, settings.num_steps))
    yield {"program": "run", "metric": "seconds", "value": time.perf_counter() - before}


def _problem(settings: TimeSteps) -> tuple[Algorithm, Records]:
    train = hierarchical(Hierarchical(records=settings.records), _no_files).train
    algorithm = dpvi.build(
        hierarchical_model.build(), gaussian(CLIP, NOISE_MULTIPLIER), settings.records, sampler=settings.sampler,
        expected_batch=settings.expected_batch, num_steps=settings.num_steps,
    )  # fmt: skip
    return algorithm, {name: jnp.asarray(array) for name, array in train.items()}


def _no_files(name: str) -> Fetched:
    raise AssertionError(f"{name} is generated")


def _scan(algorithm: Algorithm, records: Records, seeds: int, length: int) -> stopwatch.Program:
    """All seeds in one compiled program."""
    started = start(algorithm, keys_for(jax.random.key(KEY), seeds), records)
    return lambda: started.advance(started.states, 0, length)


def _loop(algorithm: Algorithm, records: Records, length: int) -> stopwatch.Program:
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
