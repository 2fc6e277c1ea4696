"""Partitioned variational inference whose clients protect each of their records (thesis, Section 3.2).

In its turn a client follows `local_steps` clipped and noisy gradients of its free energy, from the posterior it
has fetched (Algorithm 2). Whatever it reports is a function of these releases, so the records of each client are
protected against everyone else, the server included, at the cost of that client's own releases.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from dpinfer.accounting.events import Event, Gaussian, Repeat
from dpinfer.errors import InputError
from dpinfer.inference import federation
from dpinfer.inference.base import Algorithm
from dpinfer.inference.federation import State
from dpinfer.inference.free_energy import gaussian_of, guide_of, loss_of, units
from dpinfer.inference.natural import natural, prior_of, read
from dpinfer.inference.optimisers import OPTIMISERS
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.clients import Adaptive, ClientMechanism, protected, unprotected
from dpinfer.models.base import Model
from dpinfer.sampling.base import Batch, take
from dpinfer.sampling.shards import shard_sampler
from dpinfer.settings.pvi import Own, PviRecords
from dpinfer.threefry import words
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


def build(settings: PviRecords, model: Model, mechanism: Mechanism, num_records: int) -> Algorithm:
    """Build the algorithm for the shards of the settings' data."""
    sizes = federation.sizes_of(settings.data, num_records)
    clients = len(sizes)
    owns = own_settings(settings, clients)
    expected = tuple(own.expected_batch or settings.expected_batch for own in owns)
    steps = settings.local_steps
    assert settings.sampler == "poisson" or settings.sampler == "subset"
    sampler = shard_sampler(settings.sampler, sizes, expected, settings.num_steps * steps)
    releasing = _mechanism(settings, mechanism, owns, expected)
    optimiser = OPTIMISERS[settings.optimiser](settings.learning_rate)
    schedule = federation.reporters(federation.turns(settings, clients, settings.num_steps))
    reports = schedule.shape[1]
    shard_sizes = jnp.asarray(sizes, jnp.float32)

    def init(key: Key, records: Records) -> State:
        dimension = model.init(key, records).shape[0]
        return federation.start(prior_of(model, dimension), releasing.clips)

    def random(key: Key, state: State) -> Randomness:
        key_words, key_unit, key_noise = jax.random.split(key, 3)
        dimension = state.posterior.shape[-1]
        drawn = words(key_words, reports * steps * sampler.words).reshape(reports, steps, sampler.words)
        unit = units(key_unit, model, (reports, steps, sampler.capacity, dimension))
        guide = {name: jax.ShapeDtypeStruct((dimension,), jnp.float32) for name in ("mean", "log_variance")}
        return Randomness(drawn, unit, releasing.random(key_noise, guide, (reports, steps)))

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        who = schedule[state.round]

        def report(client: jax.Array, own: Randomness) -> tuple[jax.Array, jax.Array]:
            fetched = federation.view(settings, state, client)
            loss = loss_of(model, fetched - state.factors[client], shard_sizes[client])
            # The batches of all steps at once: step by step, drawing them would take most of the time.
            batches = jax.vmap(sampler.draw, in_axes=(None, 0))(client, own.words)

            def descend(carried: Any, step: tuple[Batch, Any, Any]) -> tuple[Any, None]:
                guide, memory, clip = carried
                batch, unit, noise = step
                released, clip = releasing.release(
                    client, clip, noise, loss, guide, (take(records, batch), unit), batch.mask
                )
                mean = jax.tree.map(lambda leaf: leaf / sampler.expected[client], released)
                change, memory = optimiser.update(mean, memory, guide)
                return (optax.apply_updates(guide, change), memory, clip), None

            guide = guide_of(read(fetched, state.prior))
            start = (guide, optimiser.init(guide), state.clips[client])
            (guide, _, clip), _ = jax.lax.scan(descend, start, (batches, own.unit, own.noise))
            return natural(gaussian_of(guide)) - fetched, clip

        changes, clips = jax.vmap(report)(who, drawn)
        after = federation.apply(state, who, settings.damping * changes)
        return after._replace(clips=state.clips.at[who].set(clips, mode="drop")), ()

    def event(num_steps: int) -> Event:
        taken = federation.turns(settings, clients, num_steps).sum(axis=0)
        return federation.of_all(
            tuple(
                Repeat(event=sampler.event(client, releasing.event(client)), count=int(taken[client]) * steps)
                for client in range(clients)
            )
        )

    return Algorithm(init, random, update, federation.draw, event, federation.keep)


def own_settings(settings: PviRecords, clients: int) -> tuple[Own, ...]:
    """What each client does otherwise than the others."""
    for name, given in (("own", settings.own), ("last_rounds", settings.last_rounds)):
        if given and len(given) != clients:
            raise InputError(f"{name} has {len(given)} entries, but there are {clients} clients")
    return settings.own or (Own(),) * clients


def _mechanism(
    settings: PviRecords, mechanism: Mechanism, owns: tuple[Own, ...], batches: tuple[int, ...]
) -> ClientMechanism:
    if not isinstance(mechanism.event, Gaussian):
        return unprotected(mechanism, len(owns))
    noise = mechanism.event.noise_multiplier
    return protected(
        tuple(noise * own.noise_factor for own in owns),
        tuple(own.clip or settings.clip for own in owns),
        batches,
        Adaptive(settings.clipping, settings.quantile, settings.clip_rate, settings.count_noise),
    )
