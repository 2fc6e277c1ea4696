"""One step of DP-VI on a NumPyro model, and the algorithm made of such steps."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from numpyro import handlers

from dpinfer.accounting.events import Event, Repeat
from dpinfer.inference.base import Algorithm
from dpinfer.inference.one_record import View, loss_of
from dpinfer.mechanism.base import Mechanism
from dpinfer.sampling.base import Batch, Sampler
from dpinfer.types import Key, Loss, Tree


class Problem(NamedTuple):
    """What is fitted to what, and how.

    Attributes:
        model: The model.
        guide: Its guide.
        elbo: An ELBO of NumPyro.
        optim: An optimiser in NumPyro's interface.
        constrain: From the optimiser's parameters to those of model and guide.
        mechanism: How the sum of gradients leaves the records.
        view: What is known of the model's plates.
        num_records: How many records there are in all.
        shared_draw: Whether the records of a batch see one draw from the guide, or each its own.
        constants: Keyword arguments of model and guide.
    """

    model: Callable[..., Any]
    guide: Callable[..., Any]
    elbo: Any
    optim: Any
    constrain: Callable[[Tree], Tree]
    mechanism: Mechanism
    view: View
    num_records: int
    shared_draw: bool
    constants: dict[str, Any]


class Randomness(NamedTuple):
    """All that is random about a step: its batch, the key of its draws from the guide, its noise."""

    batch: Batch
    key: Key
    noise: Tree


def take_step(
    problem: Problem, key: Key, noise: Tree, state: Any, batch: Any, mask: jax.Array, expected: float
) -> tuple[Any, jax.Array]:
    """Move the optimiser's state by the released gradient on a batch, divided by the expected size of batches.

    The loss on the batch comes with it; no noise protects that.
    """
    loss, parameters = record_loss(problem), problem.optim.get_params(state)
    examples: Any = (jax.random.split(key, mask.shape[0]), batch)
    if problem.shared_draw:
        # A key that is no part of an example: what is drawn by it is computed once for all.
        loss, examples = partial(_with_key, loss, key), batch
    weight = problem.num_records * problem.view.observations / expected
    released = problem.mechanism.release(noise, loss, parameters, examples, mask)
    gradient = jax.tree.map(lambda leaf: weight * leaf, released)
    losses = jax.vmap(loss, in_axes=(None, 0))(parameters, examples)
    # Optimisers of optax ask for a value of the loss; those that would use it have been refused.
    moved = problem.optim.update(gradient, state, value=jnp.zeros(()))
    return moved, weight * jnp.where(mask, losses, 0).sum()


def _with_key(loss: Loss, key: Key, parameters: Tree, record: Any) -> jax.Array:
    return loss(parameters, (key, record))


def record_loss(problem: Problem) -> Loss:
    """What is differentiated for each record: a function of parameters and of (key, record)."""
    share = loss_of(
        problem.elbo, problem.model, problem.guide, problem.view, problem.constants, problem.num_records
    )

    def loss(parameters: Tree, example: tuple[Key, Any]) -> jax.Array:
        own, record = example
        return share(own, problem.constrain(parameters), record)

    return loss


def algorithm_of(problem: Problem, start: Any, sampler: Sampler, example: Any) -> Algorithm:
    """The algorithm that takes such steps on batches that it draws; its records are `{"args": (...)}`.

    Args:
        problem: What is fitted to what.
        start: The optimiser's first state.
        sampler: How batches are drawn.
        example: Arguments by which the guide can be called to draw from it; their values do not matter.
    """

    def init(key: Key, records: Any) -> Any:
        del key, records
        return start

    def random(key: Key, state: Any) -> Randomness:
        key_batch, key_draw, key_noise = jax.random.split(key, 3)
        noise = problem.mechanism.random(key_noise, problem.optim.get_params(state))
        return Randomness(sampler.draw(key_batch), key_draw, noise)

    def update(drawn: Randomness, state: Any, records: Any) -> tuple[Any, jax.Array]:
        batch = jax.tree.map(lambda leaf: leaf[drawn.batch.rows], records["args"])
        return take_step(problem, drawn.key, drawn.noise, state, batch, drawn.batch.mask, sampler.expected)

    def draw(key: Key, state: Any) -> dict[str, jax.Array]:
        parameters = problem.constrain(problem.optim.get_params(state))
        guide = handlers.substitute(handlers.seed(problem.guide, key), parameters)
        sites = handlers.trace(guide).get_trace(*example, **problem.constants)
        return {name: site["value"] for name, site in sites.items() if site["type"] == "sample"}

    def event(count: int) -> Event:
        return Repeat(event=sampler.event(problem.mechanism.event), count=count)

    return Algorithm(init, random, update, draw, event)
