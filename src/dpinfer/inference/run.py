"""The one loop that runs every algorithm: compiled, with progress, checkpoints and any number of seeds.

The start has the key `fold_in(key, 0)` and step t has `fold_in(key, t)`, t from 1: no key is used twice, and a run
that goes on from a checkpoint equals an uninterrupted one bit for bit, however it is cut into chunks.

Checkpoints are states written now and then, from which a killed run goes on.
"""

import math
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from dpinfer.accounting.events import Compose
from dpinfer.atomic import replacing
from dpinfer.errors import InputError
from dpinfer.inference.base import Algorithm, Spender
from dpinfer.inference.compiled import over_seeds, spread
from dpinfer.types import Key, Records

BLOCK_BYTES = 1 << 21
"""How much randomness is drawn at once: about what a core's cache holds."""
MOST_BLOCK = 128
CHUNKS = 50
"""Into how many calls a run is cut, for the progress bar and the checkpoints."""

Record = Callable[[Any, Any], Any]
Note = Callable[[int], str]


class Kept(NamedTuple):
    """What a checkpoint holds."""

    done: int
    states: Any
    traces: list[list[np.ndarray]]


class Checkpoint:
    """A file with the state of a run.

    Args:
        path: The .npz to write, under a temporary name first.
        identity: What must be equal for a run to go on from it, such as settings and code; a file of another
            identity is as good as none.
        seconds: Least time between two writes.
    """

    def __init__(self, path: Path, identity: str, seconds: float = 30.0) -> None:
        self.path = path
        self.identity = identity
        self.seconds = seconds
        self._written = time.monotonic()

    def write(self, done: int, states: Any, traces: list[list[np.ndarray]]) -> None:
        """Keep the state after `done` steps, unless the last write was a moment ago."""
        if time.monotonic() - self._written < self.seconds:
            return
        trace = [np.concatenate(parts, axis=1) for parts in zip(*traces, strict=True)]
        named = {f"state{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(states))}
        named |= {f"trace{i}": leaf for i, leaf in enumerate(trace)}
        with replacing(self.path) as temporary:
            np.savez(temporary, allow_pickle=False, done=done, identity=self.identity, **named)
        self._written = time.monotonic()

    def read(self, like: Any) -> Kept | None:
        """Return what was kept, in the shape of the states `like`, or None if there is nothing to go on from."""
        if not self.path.is_file():
            return None
        with np.load(self.path, allow_pickle=False) as stored:
            if str(stored["identity"]) != self.identity:
                return None
            states = [stored[f"state{i}"] for i in range(len(jax.tree.leaves(like)))]
            recorded = sum(name.startswith("trace") for name in stored.files)
            trace = [stored[f"trace{i}"] for i in range(recorded)]
            return Kept(int(stored["done"]), jax.tree.unflatten(jax.tree.structure(like), states), [trace])

    def remove(self) -> None:
        """Forget the run: it has ended."""
        self.path.unlink(missing_ok=True)


class Run(NamedTuple):
    """The end of a run.

    Attributes:
        state: The last state; with a leading axis of seeds where there are several.
        trace: What was recorded, leaves of shape (recordings, ...) or (seeds, recordings, ...).
    """

    state: Any
    trace: Any


def run(
    algorithm: Algorithm,
    key: Key,
    records: Records,
    num_steps: int,
    *,
    record: Record | None = None,
    record_every: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool = False,
    note: Note | None = None,
    budget: Spender | None = None,
) -> Run:
    """Run an algorithm once; see `run_seeds`."""
    done = run_seeds(
        algorithm, key[None], records, num_steps, record=record, record_every=record_every,
        checkpoint=checkpoint, progress=progress, note=note, budget=budget,
    )  # fmt: skip
    return Run(*jax.tree.map(lambda leaf: leaf[0], tuple(done)))


def run_seeds(
    algorithm: Algorithm,
    keys: Key,
    records: Records,
    num_steps: int,
    *,
    record: Record | None = None,
    record_every: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool = False,
    note: Note | None = None,
    budget: Spender | None = None,
) -> Run:
    """Run all repetitions in one compiled program, spread over all devices that JAX sees.

    Args:
        algorithm: What to run.
        keys: (seeds,) keys, one for each repetition.
        records: The data, the same for all.
        num_steps: Steps of each repetition.
        record: `(state, info) -> tree` to keep of every `record_every`-th step. Memory grows with this alone.
        record_every: Divides `num_steps`.
        checkpoint: Where to write the state now and then, and to go on from.
        progress: Whether to show a progress bar on standard error.
        note: `steps done -> text` to show at its end, such as what they cost.
        budget: What all repetitions are paid from before the first step; a run that goes on from a checkpoint has
            been paid for if the budget has it booked.
    """
    if (record is None) != (record_every is None):
        raise InputError("record and record_every should be given together")
    segment = record_every or 1
    if num_steps < 1 or num_steps % segment:
        raise InputError(f"the number of steps is {num_steps}, but should be a positive multiple of {segment}")
    length = _chunk(num_steps, segment)
    states, advance = start(algorithm, keys, records, record, record_every)
    done, traces = 0, list[list[np.ndarray]]()
    if checkpoint is not None and (kept := checkpoint.read(states)) is not None:
        done, traces = kept.done, kept.traces
        states = jax.tree.map(lambda leaf, like: jax.device_put(leaf, like.sharding), kept.states, states)
    if budget is not None:
        event = Compose((algorithm.event(num_steps),) * keys.shape[0])
        if not (done and budget.holds(event)):
            budget.spend(event, f"{num_steps} steps of {keys.shape[0]} repetitions")
    with tqdm(total=num_steps, initial=done, unit="step", disable=not progress, mininterval=1) as bar:
        while done < num_steps:
            # Waiting for every chunk: JAX would else hand out all of them at once, and the bar would tell nothing.
            steps = min(length, num_steps - done)
            states, trace = jax.block_until_ready(advance(states, done, steps))
            traces.append(jax.device_get(jax.tree.leaves(trace)))
            done += steps
            if progress and note is not None:
                bar.set_postfix_str(note(done), refresh=False)
            bar.update(steps)
            if checkpoint is not None and done < num_steps:
                checkpoint.write(done, states, traces)
    whole = [np.concatenate(parts, axis=1) for parts in zip(*traces, strict=True)]
    trace = jax.tree.unflatten(jax.tree.structure(trace), whole)
    return Run(*jax.tree.map(lambda leaf: leaf[: keys.shape[0]], (states, trace)))


class Started(NamedTuple):
    """A run at its start.

    Attributes:
        states: The first states, with a leading axis of seeds, which may be padded.
        advance: `(states, steps done, steps to take) -> (states, trace)`; compiled once for a number of steps.
    """

    states: Any
    advance: Callable[[Any, int, int], tuple[Any, Any]]


def start(
    algorithm: Algorithm,
    keys: Key,
    records: Records,
    record: Record | None = None,
    record_every: int | None = None,
) -> Started:
    """Make the first states of a run, and what advances them."""
    mesh, keys = spread(keys)
    init = over_seeds(mesh, lambda key, data: algorithm.init(jax.random.fold_in(key, 0), data), keys, records)
    states = init(keys, records)

    @cache
    def program(length: int) -> Callable[..., tuple[Any, Any]]:
        plan = Chunk(algorithm, length, record_every or length, record, keys.shape[0] // mesh.size)
        return over_seeds(mesh, partial(_advance, plan), (keys, states), records, jnp.asarray(0))

    def advance(states: Any, done: int, length: int) -> tuple[Any, Any]:
        return program(length)((keys, states), records, jnp.asarray(done))

    return Started(states, advance)


class Chunk(NamedTuple):
    """What one compiled call does: `length` steps of an algorithm, recording after every `segment` of them.

    A device does so for `seeds` repetitions side by side.
    """

    algorithm: Algorithm
    length: int
    segment: int
    record: Record | None
    seeds: int


def _advance(plan: Chunk, key_state: tuple[Key, Any], records: Records, done: jax.Array) -> tuple[Any, Any]:
    """Go on from step `done`, for one seed."""
    key, state = key_state
    algorithm = plan.algorithm
    shapes = jax.eval_shape(algorithm.random, key, state)
    block = _block(shapes, plan.segment, plan.seeds)

    def one(state: Any, flat: Any) -> tuple[Any, Any]:
        randomness = jax.tree.map(lambda leaf, like: leaf.reshape(like.shape), flat, shapes)
        return algorithm.update(randomness, state, records)

    def blocks(carried: tuple[Any, jax.Array, Any], _: None) -> tuple[tuple[Any, jax.Array, Any], None]:
        state, first, _ = carried
        if block == 1:
            # No detour through the inputs of a loop: much randomness is worth a copy less.
            state, info = algorithm.step(jax.random.fold_in(key, first), state, records)
            return (state, first + 1, info), None
        keys = jax.vmap(lambda step: jax.random.fold_in(key, step))(first + jnp.arange(block))
        drawn = jax.vmap(lambda own: algorithm.random(own, state))(keys)
        # Flat, because the loop over steps reorders axes, which is slow where the last ones are short.
        flat = jax.tree.map(lambda leaf: leaf.reshape(block, -1), drawn)
        state, infos = jax.lax.scan(one, state, flat, length=block)
        return (state, first + block, jax.tree.map(lambda leaf: leaf[-1], infos)), None

    # Carried along instead of stacked, so that memory does not grow with the number of blocks.
    like = jax.eval_shape(algorithm.update, shapes, state, records)[1]
    no_info = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like)

    def segments(carried: tuple[Any, jax.Array], _: None) -> tuple[tuple[Any, jax.Array], Any]:
        start = (*carried, no_info)
        (state, first, info), _ = jax.lax.scan(blocks, start, None, length=plan.segment // block)
        return (state, first), None if plan.record is None else plan.record(state, info)

    (state, _), trace = jax.lax.scan(segments, (state, done + 1), None, length=plan.length // plan.segment)
    return state, trace


def _block(drawn: Any, size: int, seeds: int) -> int:
    """How many steps' randomness is drawn at once: a divisor of the segment that fits the cache for all seeds."""
    bytes_per_step = seeds * sum(math.prod(leaf.shape) * 4 for leaf in jax.tree.leaves(drawn))
    return _divisor(size, max(1, min(MOST_BLOCK, BLOCK_BYTES // max(bytes_per_step, 1))))


def _chunk(num_steps: int, segment: int) -> int:
    """Length of a chunk: a multiple of the segment that divides the run into about `CHUNKS` equal parts.

    Equal parts, since every other length is compiled anew. Where the number has no fitting divisor, as a prime,
    the last part is shorter than the others.
    """
    segments = num_steps // segment
    most = max(1, segments // CHUNKS)
    fitting = _divisor(segments, most)
    # A round number, of which a block of steps is a divisor.
    return segment * (fitting if 4 * fitting >= most else most - most % MOST_BLOCK or most)


def _divisor(number: int, most: int) -> int:
    """The largest divisor of `number` up to `most`."""
    small = (d for d in range(1, math.isqrt(number) + 1) if number % d == 0)
    return max(d for pair in ((d, number // d) for d in small) for d in pair if d <= most)


def keys_for(key: Key, seeds: int) -> Key:
    """The keys of repetitions 0, 1, ...: each the same however many there are."""
    return jax.vmap(lambda seed: jax.random.fold_in(key, seed))(jnp.arange(seeds))
