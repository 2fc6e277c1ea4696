"""How private optimisers are made: noise that is given or found for an epsilon, batches, and a budget."""

from typing import Any

import jax
import optax

from dpinfer.accounting import calibrate
from dpinfer.accounting.budget import Budget, budget_of
from dpinfer.accounting.events import Event, Relation, Repeat
from dpinfer.errors import InputError
from dpinfer.mechanism.base import Mechanism
from dpinfer.mechanism.gaussian import gaussian
from dpinfer.mechanism.grid import on_grid
from dpinfer.sampling.base import Sampler
from dpinfer.sampling.by_name import SamplerName, sampler_of
from dpinfer.training.optimiser import MOST_STEPS, Optimiser
from dpinfer.training.settings import Settings
from dpinfer.types import Loss


def private(
    optimiser: optax.GradientTransformation,
    loss: Loss,
    *,
    num_records: int,
    expected_batch: float,
    clip: float,
    delta: float,
    noise_multiplier: float | None = None,
    epsilon: float | None = None,
    num_steps: int | None = None,
    sampler: SamplerName = "poisson",
    adjacency: Relation = "add-remove",
    budget: Budget | float | None = None,
    accountant: str = "rdp",
    micro_batch: int | None = None,
    release: bool = False,
) -> Optimiser:
    """Make any optimiser of optax private.

    Guarantee: what its steps make of batches from a `Loader` is (`epsilon(state)`, delta)-private for the records,
    however the optimiser uses the gradients: it sees nothing else of the records.

    How much noise there is follows from one of: `noise_multiplier`; `epsilon` and `num_steps`, with a budget of
    that epsilon into which one run of that many steps fits; or `budget` and `num_steps`, which use what the budget
    has left.

    Args:
        optimiser: Any that needs gradients and parameters alone.
        loss: Scalar function of parameters and one record, in JAX; with any library's network. `dpinfer.explain`
            tells how its gradients are clipped.
        num_records: How many records there are.
        expected_batch: Expected size of a batch, by which sums are divided.
        clip: Largest norm of one record's gradient.
        delta: Delta of the guarantee.
        noise_multiplier: Noise standard deviation over clip.
        epsilon: What a run of `num_steps` steps may cost.
        num_steps: How many steps a run may take; as many as the budget has left by default.
        sampler: poisson: each record by its own coin. subset, replacement: a fixed number, without or with
            replacement.
        adjacency: Which data sets count as neighbours.
        budget: What runs are paid from, which others may share, or an epsilon for one of its own; none by default.
        accountant: What `Optimiser.epsilon` is computed by. By Rényi divergences a step more takes no time to
            account for; `pld`, by which budgets and ledgers count, gives smaller numbers, but takes longer than
            many a step.
        micro_batch: How many gradients are held in memory at once; as many as fit by default.
        release: Whether the result will be released: noise and sum are then on one public grid, so that the last
            bits of a number tell nothing, and the key must be one that nobody knows.
    """
    _require_one_noise(noise_multiplier, epsilon, num_steps, budget)
    if num_steps is not None and not 1 <= num_steps <= MOST_STEPS:
        raise InputError(f"num_steps is {num_steps}, but should be from 1 to {MOST_STEPS}")
    drawn = sampler_of(sampler, num_records, expected_batch, MOST_STEPS)
    paying = budget_of(budget if epsilon is None else epsilon, delta, adjacency)

    def mechanism_of(noise: float) -> Mechanism:
        if release:
            return on_grid(clip, noise, _capacity(drawn), micro_batch)
        return gaussian(clip, noise, micro_batch)

    def run(noise: float) -> Event:
        return Repeat(event=drawn.event(mechanism_of(noise).event), count=num_steps or 1)

    if noise_multiplier is not None:
        noise = noise_multiplier
    elif epsilon is not None:
        noise = calibrate.noise_multiplier(epsilon, delta, run, adjacency)
    else:
        assert paying is not None
        noise = paying.noise_multiplier(run)
    mechanism = mechanism_of(noise)
    settings = Settings(
        event=drawn.event(mechanism.event), num_records=num_records, expected_batch=drawn.expected, clip=clip,
        delta=delta, adjacency=adjacency, sampler=sampler, release=release,
    )  # fmt: skip
    return Optimiser(optimiser, loss, mechanism, drawn, settings, noise, paying, num_steps, accountant)


def dpsgd(loss: Loss, learning_rate: float, **settings: Any) -> Optimiser:
    """Private stochastic gradient descent; the settings are those of `private`."""
    return private(optax.sgd(learning_rate), loss, **settings)


def dpadam(loss: Loss, learning_rate: float, **settings: Any) -> Optimiser:
    """Private Adam; the settings are those of `private`."""
    return private(optax.adam(learning_rate), loss, **settings)


def dpadagrad(loss: Loss, learning_rate: float, **settings: Any) -> Optimiser:
    """Private AdaGrad; the settings are those of `private`."""
    return private(optax.adagrad(learning_rate), loss, **settings)


def dprmsprop(loss: Loss, learning_rate: float, **settings: Any) -> Optimiser:
    """Private RMSprop; the settings are those of `private`."""
    return private(optax.rmsprop(learning_rate), loss, **settings)


def _capacity(sampler: Sampler) -> int:
    """The room of a batch."""
    return int(jax.eval_shape(sampler.draw, jax.random.key(0)).mask.shape[0])


def _require_one_noise(
    noise_multiplier: float | None, epsilon: float | None, num_steps: int | None, budget: Budget | float | None
) -> None:
    """Refuse to guess how much noise is meant."""
    if epsilon is not None and (noise_multiplier is not None or budget is not None):
        other = "noise_multiplier" if noise_multiplier is not None else "budget"
        raise InputError(f"epsilon and {other} are both given, but noise follows from one of them")
    if noise_multiplier is not None:
        return
    if epsilon is None and budget is None:
        raise InputError("one of noise_multiplier, epsilon and budget should be given, from which noise follows")
    if num_steps is None:
        raise InputError("num_steps is needed to find the noise for an epsilon or a budget")
