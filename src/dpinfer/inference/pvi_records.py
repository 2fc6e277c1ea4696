"""Partitioned variational inference whose clients protect each of their records (thesis, Section 3.2).

In its turn a client follows `local_steps` clipped and noisy gradients of its free energy, from the posterior it
has fetched (Algorithm 2). Whatever it reports is a function of these releases, so the records of each client are
protected against everyone else, the server included, at the cost of that client's own releases.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.accounting.events import Event, Repeat
from dpinfer.errors import InputError
from dpinfer.inference import federation
from dpinfer.inference.base import Algorithm
from dpinfer.inference.federation import State, Turns
from dpinfer.inference.free_energy import gaussian_of, guide_of, loss_of, units
from dpinfer.inference.names import ClientOptions, ClipRule, OptimiserName, Schedule
from dpinfer.inference.natural import natural, prior_of, read
from dpinfer.inference.optimisers import OPTIMISERS
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.clients import Adaptive, ClientMechanism, protected, unprotected
from dpinfer.models.base import Model
from dpinfer.random.threefry import words
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.names import ShardSamplerName
from dpinfer.sampling.shards import shard_sampler
from dpinfer.types import Key, Records


class Randomness(NamedTuple):
    """All that is random about a round: for each report and each of its steps.

    Attributes:
        words: Which records the step sees, as random words.
        unit: Draws for the likelihood of each record.
        noise: The mechanism's.
    """

    words: jax.Array
    unit: Any
    noise: Any


def build(
    model: Model,
    mechanism: Mechanism,
    num_records: int,
    *,
    sizes: tuple[int, ...],
    expected_batch: int,
    num_steps: int,
    local_steps: int,
    clip: float,
    sampler: ShardSamplerName = "poisson",
    optimiser: OptimiserName = "adam",
    learning_rate: float = 1e-3,
    clipping: ClipRule = "fixed",
    quantile: float = 0.5,
    clip_rate: float = 0.2,
    count_noise: float = 0.05,
    fetches: bool = True,
    own: tuple[ClientOptions, ...] = (),
    last_rounds: tuple[int, ...] = (),
    schedule: Schedule = "synchronous",
    delay: float = 1.0,
    schedule_seed: int = 0,
    damping: float = 1.0,
) -> Algorithm:
    """Build the algorithm.

    Args:
        model: What is learnt, with a Gaussian prior.
        mechanism: Says how much noise is added, if any.
        num_records: Number of the records of all clients, which stand one client after the other.
        sizes: How many records each client has, which is public.
        expected_batch: Expected number of a client's records in a batch.
        num_steps: Rounds of a run.
        local_steps: Gradient steps of a client for one report.
        clip: Largest norm of one record's gradient, or what an adaptive one starts from, where private.
        sampler: How batches are drawn.
        optimiser: One of `OPTIMISERS`.
        learning_rate: Its step size.
        clipping: Whether and how the clip adapts.
        quantile: Share of gradients left unclipped, where the clip adapts.
        clip_rate: How fast the clip follows noisy counts.
        count_noise: Noise standard deviation on the count, as a share of the expected batch.
        fetches: Whether clients fetch the server's posterior; if not, each fits its records to the prior.
        own: What each client does otherwise; empty if they are all alike.
        last_rounds: Last round of each client; empty if all take part to the end.
        schedule: Who reports in a round.
        delay: Mean number of rounds that a client misses, where it is asynchronous.
        schedule_seed: Seed of the delays.
        damping: Share of a client's change that is applied.
    """
    federation.require_all(sizes, num_records)
    clients, steps = len(sizes), local_steps
    for name, given in (("own", own), ("last_rounds", last_rounds)):
        if given and len(given) != clients:
            raise InputError(f"{name} has {len(given)} entries, but there are {clients} clients")
    owns = own or (ClientOptions(),) * clients
    expected = tuple(one.expected_batch or expected_batch for one in owns)
    batching = shard_sampler(sampler, sizes, expected, num_steps * steps)
    adaptive = Adaptive(clipping, quantile, clip_rate, count_noise)
    releasing = _mechanism(mechanism, owns, tuple(one.clip or clip for one in owns), expected, adaptive)
    descent = OPTIMISERS[optimiser](learning_rate)
    taking = Turns(schedule, delay, schedule_seed, last_rounds)
    reporting = federation.reporters(federation.turns(taking, clients, num_steps))
    reports = reporting.shape[1]
    shard_sizes = jnp.asarray(sizes, jnp.float32)

    def init(key: Key, records: Records) -> State:
        dimension = model.init(key, records).shape[0]
        return federation.start(prior_of(model, dimension), releasing.clips)

    def random(key: Key, state: State) -> Randomness:
        key_words, key_unit, key_noise = jax.random.split(key, 3)
        dimension = state.posterior.shape[-1]
        drawn = words(key_words, reports * steps * batching.words).reshape(reports, steps, batching.words)
        unit = units(key_unit, model, (reports, steps, batching.capacity, dimension))
        guide = {name: jax.ShapeDtypeStruct((dimension,), jnp.float32) for name in ("mean", "log_variance")}
        return Randomness(drawn, unit, releasing.random(key_noise, guide, (reports, steps)))

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        who = reporting[state.round]

        def report(client: jax.Array, drawn: Randomness) -> tuple[jax.Array, jax.Array]:
            fitted = state.prior + state.factors[client]
            fetched = federation.view(schedule, state, client) if fetches else fitted
            loss = loss_of(model, fetched - state.factors[client], shard_sizes[client])
            # The batches of all steps at once: step by step, drawing them would take most of the time.
            batches = jax.vmap(batching.draw, in_axes=(None, 0))(client, drawn.words)

            def descend(carried: Any, step: tuple[Batch, Any, Any]) -> tuple[Any, None]:
                guide, memory, clip = carried
                batch, unit, noise = step
                released, clip = releasing.release(
                    client, clip, noise, loss, guide, (take(records, batch), unit), batch.mask
                )
                mean = jax.tree.map(lambda leaf: leaf / batching.expected[client], released)
                change, memory = descent.update(mean, memory, guide)
                return (optax.apply_updates(guide, change), memory, clip), None

            guide = guide_of(read(fetched, state.prior))
            start = (guide, descent.init(guide), state.clips[client])
            (guide, _, clip), _ = jax.lax.scan(descend, start, (batches, drawn.unit, drawn.noise))
            return natural(gaussian_of(guide)) - fetched, clip

        changes, clips = jax.vmap(report)(who, drawn)
        after = federation.apply(state, who, damping * changes)
        return after._replace(clips=state.clips.at[who].set(clips, mode="drop")), ()

    def event(num_steps: int) -> Event:
        taken = federation.turns(taking, clients, num_steps).sum(axis=0)
        return federation.of_all(
            tuple(
                Repeat(event=batching.event(client, releasing.event(client)), count=int(taken[client]) * steps)
                for client in range(clients)
            )
        )

    return Algorithm(init, random, update, federation.draw, event, federation.keep)


def _mechanism(
    mechanism: Mechanism,
    owns: tuple[ClientOptions, ...],
    clips: tuple[float, ...],
    batches: tuple[int, ...],
    adaptive: Adaptive,
) -> ClientMechanism:
    noise = federation.noise_of(mechanism.event)
    if noise is None:
        return unprotected(mechanism, len(owns))
    return protected(tuple(noise * own.noise_factor for own in owns), clips, batches, adaptive)
