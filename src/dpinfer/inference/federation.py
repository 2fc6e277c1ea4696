"""What the algorithms of partitioned variational inference share: shards, turns, and the server (Algorithm 1).

The posterior is the prior times one factor for each client. A client takes its own factor out of the posterior it
has fetched, finds the best posterior for its records with the rest as a prior, and reports the change, which the
server multiplies into the posterior and the client into its factor. All are Gaussians in natural parameters, so
they add up.

Who reports when is drawn before the program runs, from public values alone. So the number of a client's reports,
and with it its epsilon, is known before, and a client can be left out as soon as its budget is spent.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dpinfer.accounting.events import Disjoint, Event, Gaussian, NonPrivate
from dpinfer.errors import InputError
from dpinfer.inference.names import Schedule
from dpinfer.inference.natural import read
from dpinfer.tree import normal_like
from dpinfer.types import Key


class State(NamedTuple):
    """Where a federation stands.

    Attributes:
        round: Rounds so far.
        prior: (2, D) natural parameters of the prior.
        posterior: (2, D) those of the server's posterior.
        factors: (clients, 2, D) those of each client's factor.
        fetched: (clients, 2, D) those of the posterior that each client works on.
        clips: (clients,) the clip of each client, where it adapts.
    """

    round: jax.Array
    prior: jax.Array
    posterior: jax.Array
    factors: jax.Array
    fetched: jax.Array
    clips: jax.Array


def start(prior: jax.Array, clips: jax.Array) -> State:
    """All factors are 1, and everyone knows the prior."""
    shape = (clips.shape[0], *prior.shape)
    return State(jnp.asarray(0), prior, prior, jnp.zeros(shape), jnp.broadcast_to(prior, shape), clips)


def require_all(sizes: tuple[int, ...], num_records: int) -> None:
    """Refuse shards that do not make up all records."""
    if sum(sizes) != num_records:
        raise InputError(f"the clients have {sum(sizes)} records, but there are {num_records}")


def noise_of(event: Event) -> float | None:
    """The noise multiplier that clients are to run a release with, or None if it is not private.

    Raises:
        InputError: It is another release, whose noise no client would add.
    """
    if isinstance(event, Gaussian):
        return event.noise_multiplier
    if isinstance(event, NonPrivate):
        return None
    raise InputError(f"the mechanism's event is {event}, but clients add Gaussian noise or none")


class Turns(NamedTuple):
    """How clients take turns.

    Attributes:
        schedule: Who reports in a round.
        delay: Mean number of rounds that a client misses, where it is asynchronous.
        seed: Of the delays.
        last_rounds: Last round of each client; empty where all take part to the end.
    """

    schedule: Schedule = "synchronous"
    delay: float = 1.0
    seed: int = 0
    last_rounds: tuple[int, ...] = ()


def turns(how: Turns, num_clients: int, rounds: int) -> np.ndarray:
    """(rounds, clients) who reports in which round; the first rounds are the same however many are asked for."""
    number = np.arange(rounds)[:, None]
    match how.schedule:
        case "synchronous":
            reports = np.ones((rounds, num_clients), bool)
        case "sequential":
            reports = number % num_clients == np.arange(num_clients)
        case "asynchronous":
            reports = np.zeros((rounds, num_clients), bool)
            for client in range(num_clients):
                random = np.random.default_rng([how.seed, client])
                # A geometric law: whoever is not ready now is no nearer to it for having waited.
                waits = random.geometric(1 / (1 + how.delay), rounds)
                ready = np.cumsum(waits) - 1
                reports[ready[ready < rounds], client] = True
    if how.last_rounds:
        reports &= number < np.array(how.last_rounds)
    return reports


def reporters(reports: np.ndarray) -> jax.Array:
    """(rounds, most reports in a round) numbers of the clients; the number of clients stands for nobody."""
    num_clients = reports.shape[1]
    width = max(1, int(reports.sum(axis=1).max()))
    # A stable sort brings those who report to the front, in their order.
    order = np.argsort(~reports, axis=1, kind="stable")[:, :width]
    return jnp.asarray(np.where(np.take_along_axis(reports, order, axis=1), order, num_clients), jnp.int32)


def view(schedule: Schedule, state: State, client: jax.Array) -> jax.Array:
    """The posterior that a client works on: the newest, unless it fetched one a while ago."""
    return state.fetched[client] if schedule == "asynchronous" else state.posterior


def apply(state: State, who: jax.Array, changes: jax.Array, noise: jax.Array | float = 0.0) -> State:
    """Let clients report changes, to which the server may add noise of its own.

    Args:
        state: Before.
        who: (reports,) clients; beyond the last client is nobody.
        changes: (reports, 2, D) of their factors, hence of the posterior.
        noise: (2, D) that no factor knows of.
    """
    counted = jnp.where((who < state.factors.shape[0])[:, None, None], changes, 0.0)
    posterior = state.posterior + counted.sum(0) + noise
    return state._replace(
        round=state.round + 1,
        posterior=posterior,
        factors=state.factors.at[who].add(changes, mode="drop"),
        fetched=state.fetched.at[who].set(posterior, mode="drop"),
    )


def draw(key: Key, state: State) -> jax.Array:
    """One draw of the server's posterior."""
    mean, variance = read(state.posterior, state.prior)
    unit: jax.Array = normal_like(key, mean)
    return mean + jnp.sqrt(variance) * unit


def keep(state: State, info: object) -> dict[str, jax.Array]:
    """The posterior, the clips, and by how much prior and factors miss the posterior that they should make up."""
    del info
    missed = state.posterior - state.prior - state.factors.sum(0)
    return {"posterior": state.posterior, "clips": state.clips, "gap": jnp.linalg.norm(missed)}


def of_all(events: tuple[Event, ...]) -> Event:
    """The events of the clients as one, which tells them apart only where they differ."""
    return events[0] if len(set(events)) == 1 else Disjoint(events)
