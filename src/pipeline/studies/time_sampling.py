"""What one minibatch costs: ours, and what JAX offers, as functions of the number of records."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.sampling.base import Sampler
from dpinfer.sampling.fixed_size import choice, subset
from dpinfer.sampling.poisson import poisson
from dpinfer.types import Key
from pipeline.settings.study import TimeSampling
from pipeline.studies import Row, stopwatch

SEED = 0


class Timed(NamedTuple):
    """A way to draw batches, and how many are drawn for one measurement: more, where one takes little time."""

    draw: Callable[[Key], jax.Array]
    times: int


def rows(settings: TimeSampling) -> Iterator[Row]:
    """Microseconds for one minibatch in a compiled loop, relative to Poisson sampling by count and permutation."""
    ways = _ways(settings)
    programs = {name: _program(way) for name, way in ways.items()}
    times = stopwatch.seconds(programs, settings.rounds)
    per_batch = {name: values / ways[name].times * 1e6 for name, values in times.items()}
    return stopwatch.rows(per_batch, "poisson", "microseconds")


def _ways(settings: TimeSampling) -> dict[str, Timed]:
    num_records, batch, draws = settings.records, settings.batch, settings.draws
    rate = batch / num_records
    ways = {
        "poisson": Timed(_rows(poisson(num_records, rate, draws)), draws),
        "subset": Timed(_rows(subset(num_records, batch)), draws),
    }
    if settings.builtin:
        few = max(1, draws // num_records)
        ways["choice"] = Timed(_rows(choice(num_records, batch)), few)
        ways["bernoulli"] = Timed(lambda key: jax.random.bernoulli(key, rate, (num_records,)), 10 * few)
    return ways


def _rows(sampler: Sampler) -> Callable[[Key], jax.Array]:
    return lambda key: sampler.draw(key).rows


def _program(way: Timed) -> stopwatch.Program:
    """Draw batches one after the other; their sum keeps the compiler from leaving any out."""

    @jax.jit
    def program(key: Key) -> jax.Array:
        def one(total: jax.Array, step: jax.Array) -> tuple[jax.Array, None]:
            return total + way.draw(jax.random.fold_in(key, step)).sum(dtype=jnp.uint32), None

        return jax.lax.scan(one, jnp.uint32(0), jnp.arange(way.times))[0]

    return lambda: program(jax.random.key(SEED))
