"""Partitioned variational inference that protects all that a client has (thesis, Section 3.3).

A client's change in natural parameters is clipped as a whole, and noise is added to it:
- `shared`, Algorithm 3: every client adds 1/sqrt(M) of it, so that the sum of M messages has all of it. The
  messages themselves, which the thesis lets an adversary read, have less: that is booked.
- `client`, its first fix: every client adds all of it.
- `server`, Algorithm 4: messages are clean, and the server, which must be trusted, adds noise to their sum. No
  factor ever learns of that noise, so prior and factors drift away from the posterior like a random walk, unless
  all factors are now and then reset to equal shares of the posterior, which is public.

All clients take part in every round that is theirs, so nothing is gained by sampling; the number of clients is
public, and a neighbour has one client's records exchanged for none (add-remove) or for others (replace-one).
Without privacy nothing is clipped and no noise added, which is partitioned variational inference itself.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dpinfer.accounting.events import Event, Gaussian, Repeat
from dpinfer.inference import federation, optimum
from dpinfer.inference.base import Algorithm
from dpinfer.inference.federation import State
from dpinfer.inference.natural import prior_of
from dpinfer.mechanism.base import Mechanism
from dpinfer.models.base import Model
from dpinfer.settings.pvi import PviClients
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


def build(settings: PviClients, model: Model, mechanism: Mechanism, num_records: int) -> Algorithm:
    """Build the algorithm for the shards of the settings' data."""
    sizes = federation.sizes_of(settings.data, num_records)
    clients = len(sizes)
    schedule = federation.reporters(federation.turns(settings, clients, settings.num_steps))
    reports = schedule.shape[1]
    local = optimum.build(settings, model, sizes)
    release = mechanism.event
    # Without privacy: no bound, no noise.
    clip, noise = (settings.clip, release.noise_multiplier) if isinstance(release, Gaussian) else (math.inf, 0.0)
    share = noise / math.sqrt(clients) if settings.noise_at == "shared" else noise
    scale = 0.0 if noise == 0.0 else share * clip
    of_client, of_server = (0.0, scale) if settings.noise_at == "server" else (scale, 0.0)

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
        who = schedule[state.round]

        def report(client: jax.Array, unit: Any, own: jax.Array) -> jax.Array:
            fetched = federation.view(settings, state, client)
            best = local.best(client, fetched, state.factors[client], state.prior, unit, records)
            return clipped(best - fetched, clip) + of_client * own

        changes = settings.damping * jax.vmap(report)(who, drawn.unit, drawn.clients)
        after = federation.apply(state, who, changes, settings.damping * of_server * drawn.server)
        return _reset(after, settings.reset_every), ()

    def event(num_steps: int) -> Event:
        one = Gaussian(noise_multiplier=share) if isinstance(release, Gaussian) else release
        taken = federation.turns(settings, clients, num_steps).sum(axis=0)
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
