"""Partitioned variational inference that protects all that a client has (thesis, Section 3.3).

A client's change in natural parameters is clipped as a whole, and noise is added to it:
- `shared`, Algorithm 3: every client adds 1/sqrt(M) of it, so that the sum of M messages has all of it. The
  messages themselves, which the thesis lets an adversary read, have less: that is booked.
- `client`, its first fix: every client adds all of it.
- `server`, Algorithm 4: messages are clean, and the server, which must be trusted, adds noise to their sum. No
  factor ever learns of that noise, so prior and factors drift away from the posterior like a random walk, unless
  all factors are now and then reset to equal shares of the posterior, which is public.

All clients take part in every round that is theirs, so nothing is gained by sampling; the number of clients is
public, and a neighbour has one client's records exchanged for none (add-remove) or for others (replace-one). A
client without records is not silent, which would be seen, but has nothing to say: its change is zero, whatever its
factor, and its noise is added as ever. So a client with records differs from one without by at most one clip, and
from one with other records by at most two.

Without privacy nothing is clipped and no noise added, which is partitioned variational inference itself.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event, Gaussian, Repeat
from dpinfer.inference import federation
from dpinfer.inference import free_energy as optima
from dpinfer.inference.base import Algorithm
from dpinfer.inference.federation import State, Turns
from dpinfer.inference.names import NoiseAt, Optimum, Schedule
from dpinfer.inference.natural import prior_of
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.tree import normal_like
from dpinfer.types import Key, Records


class Randomness(NamedTuple):
    """All that is random about a round.

    Attributes:
        unit: Draws for the local optimisations of all reports.
        clients: (reports, 2, D) standard normal noise of clients.
        server: (2, D) that of the server.
    """

    unit: Any
    clients: jax.Array
    server: jax.Array


def build(
    model: Model,
    mechanism: Mechanism,
    num_records: int,
    *,
    sizes: tuple[int, ...],
    num_steps: int,
    clip: float,
    noise_at: NoiseAt = "client",
    reset_every: int | None = None,
    optimum: Optimum = "natural",
    local_steps: int = 100,
    learning_rate: float = 0.05,
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
        num_steps: Rounds of a run.
        clip: Largest norm of one client's change in natural parameters, where private.
        noise_at: Who adds noise.
        reset_every: Rounds after which all factors are reset to equal shares; never if None.
        optimum: How a client finds its best posterior.
        local_steps: Steps of the gradient ascent.
        learning_rate: Step size of the gradient ascent, by Adam.
        schedule: Who reports in a round.
        delay: Mean number of rounds that a client misses, where it is asynchronous.
        schedule_seed: Seed of the delays.
        damping: Share of a client's change that is applied.
    """
    federation.require_all(sizes, num_records)
    clients = len(sizes)
    taking = Turns(schedule, delay, schedule_seed)
    reporting = federation.reporters(federation.turns(taking, clients, num_steps))
    reports = reporting.shape[1]
    has_records = jnp.asarray(sizes) > 0
    local = optima.optimum_of(model, sizes, optimum=optimum, local_steps=local_steps, learning_rate=learning_rate)
    release = mechanism.event
    given = federation.noise_of(release)
    # Without privacy: no bound, no noise.
    bound, noise = (math.inf, 0.0) if given is None else (clip, given)
    share = noise / math.sqrt(clients) if noise_at == "shared" else noise
    scale = 0.0 if noise == 0.0 else share * bound
    of_client, of_server = (0.0, scale) if noise_at == "server" else (scale, 0.0)

    def init(key: Key, records: Records) -> State:
        dimension = model.init(key, records).shape[0]
        return federation.start(prior_of(model, dimension), jnp.ones(clients))

    def random(key: Key, state: State) -> Randomness:
        key_unit, key_noise = jax.random.split(key)
        shape = state.posterior.shape
        on_clients, on_server = normal_like(
            key_noise,
            tuple(jax.ShapeDtypeStruct(wanted, jnp.float32) for wanted in ((reports, *shape), shape)),
        )
        return Randomness(local.random(key_unit, reports, shape[-1]), on_clients, on_server)

    def update(drawn: Randomness, state: State, records: Records) -> tuple[State, tuple[()]]:
        who = reporting[state.round]

        def report(client: jax.Array, unit: Any, own: jax.Array) -> jax.Array:
            fetched = federation.view(schedule, state, client)
            best = local.best(client, fetched, state.factors[client], state.prior, unit, records)
            change = jnp.where(has_records[client], clipped(best - fetched, bound), 0.0)
            return change + of_client * own

        changes = damping * jax.vmap(report)(who, drawn.unit, drawn.clients)
        after = federation.apply(state, who, changes, damping * of_server * drawn.server)
        return _reset(after, reset_every), ()

    def event(num_steps: int) -> Event:
        one = release if given is None else Gaussian(noise_multiplier=share)
        taken = federation.turns(taking, clients, num_steps).sum(axis=0)
        return federation.of_all(tuple(Repeat(event=one, count=int(count)) for count in taken))

    return Algorithm(init, random, update, federation.draw, event, federation.keep)


def clipped(change: jax.Array, clip: float) -> jax.Array:
    """Scale a change down to joint L2 norm `clip`, over means and precisions together."""
    norm = jnp.linalg.norm(change)
    return change * jnp.where(norm > clip, clip / norm, 1.0)


def _reset(state: State, every: int | None) -> State:
    """Every so many rounds, give each client an equal share of the posterior as its factor (Eq. 3.18)."""
    if every is None:
        return state
    equal = (state.posterior - state.prior) / state.factors.shape[0]
    return state._replace(factors=jnp.where(state.round % every == 0, equal, state.factors))
