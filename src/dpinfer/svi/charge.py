"""What the steps of a `DPSVI` are paid from, and what it refuses because it is not paid for.

A state may take as many steps as have been paid for when it was made: inside of `jax.jit`, where nobody can be
stopped, a step beyond them releases nothing. A state is used once: from the same one the noise would be the same,
and so would be what it hides.
"""

import warnings
from typing import Any, NamedTuple
from uuid import uuid4

import jax
import numpy as np

from dpinfer.accounting.budget import Budget, claimed
from dpinfer.accounting.events import Event, Repeat
from dpinfer.accounting.ledger import BudgetExceededError
from dpinfer.errors import InputError
from dpinfer.sampling.by_name import SamplerName
from dpinfer.sampling.poisson import capacity
from dpinfer.types import Key

UNLIMITED = 2**31 - 1
"""Steps of a state that nobody pays for."""


class DPSVIState(NamedTuple):
    """NumPyro's `SVIState`, and how many steps have been paid for.

    Attributes:
        optim_state: The optimiser's, whose first entry is the number of steps taken.
        mutable_state: None.
        rng_key: For the steps to come: whoever knows it can take their noise off again.
        granted: Largest number of steps that this state and those after it may take in all.
    """

    optim_state: Any
    mutable_state: None
    rng_key: Key
    granted: jax.Array


class Kind(NamedTuple):
    """The batches that an account speaks of.

    Attributes:
        sampler: How they are drawn.
        num_records: From how many records.
        expected_batch: Their expected size; all records where it is None.
        num_steps: How many of them.
    """

    sampler: SamplerName
    num_records: int
    expected_batch: float | None
    num_steps: int

    def is_met(self, size: int, mask: jax.Array | None) -> bool | jax.Array:
        """Whether a batch of so many entries is of this kind; where that can be seen at once, refuse any other.

        A Poisson batch holds more records than its room with a probability that is part of delta, so that refusing
        one that does tells nothing.
        """
        if self.expected_batch is None or self.sampler == "subset":
            expected = self.num_records if self.expected_batch is None else self.expected_batch
            if mask is not None or size != expected:
                raise InputError(f"the noise is for batches of {expected:g} records, none of them masked out")
            return True
        if mask is None:
            raise InputError(
                f"the noise is for Poisson batches of {self.expected_batch:g} expected records: draw them by "
                "poisson_batchify_data, and pass their mask"
            )
        most = capacity(self.num_records, self.expected_batch / self.num_records, self.num_steps)
        fits = mask.sum() <= most
        if not is_traced(fits) and not fits:
            raise InputError(
                f"the batch holds {int(mask.sum())} records, but the noise is for Poisson batches of "
                f"{self.expected_batch:g} expected records, which hold at most {most}"
            )
        return fits


class Payer:
    """Spends from a budget for the states of one `DPSVI`.

    Args:
        budget: What is spent from.
        num_steps: How many steps a state is paid for, or None for as many as there is enough left for.
    """

    def __init__(self, budget: Budget, num_steps: int | None) -> None:
        self.budget = budget
        self.num_steps = num_steps

    def grant(self, step: Event) -> int:
        """Pay for all steps of a new state."""
        count = self.budget.most_steps(step) if self.num_steps is None else self.num_steps
        if count == 0:
            raise BudgetExceededError(f"the budget {self.budget!r} has not enough left for a single step")
        self.spend(step, count)
        return count

    def spend(self, step: Event, count: int) -> None:
        """Pay for so many steps."""
        self.budget.spend(Repeat(event=step, count=count), f"{count} steps of DPSVI")

    def checks(self, state: DPSVIState, fits: bool | jax.Array, release: Key) -> dict[str, jax.Array]:
        """What must all be so for a state to take a step, by name.

        Args:
            state: The state.
            fits: Whether its batch is of the kind that was paid for.
            release: The key of the step's noise.
        """
        paid = state.optim_state[0] < state.granted
        return {"paid": paid, "only": claimed(self.budget, state.rng_key, release, paid & fits)}

    def refuse(self, state: DPSVIState, checks: dict[str, jax.Array]) -> None:
        """Say in a sentence why a step was not taken, unless it is being compiled, where that cannot be known."""
        if any(map(is_traced, checks.values())):
            return
        if not checks["paid"]:
            refuse_overspending(int(state.optim_state[0]) + 1, int(state.granted))
        if not checks["only"]:
            refuse_used()

    def claim_whole(self, state: DPSVIState) -> None:
        """Claim a state for a run of its own."""
        place = np.asarray(jax.random.key_data(state.rng_key)).tobytes()
        if not self.budget.claim(place, uuid4().bytes):
            refuse_used()


def refuse_used() -> None:
    """Stop where a state goes on in a second way."""
    raise BudgetExceededError(
        "the state has gone on in another way before, and only one is paid for: go on from the state after it"
    )


def refuse_overspending(wanted: int, granted: int) -> None:
    """Stop where more steps would be taken than have been paid for."""
    if wanted > granted:
        raise BudgetExceededError(f"{wanted} steps would exceed the {granted} that have been paid for")


def is_traced(value: Any) -> bool:
    """Whether a value is not known yet, as it is being compiled for."""
    return isinstance(value, jax.core.Tracer)


def warn_of_delta(delta: float, num_records: int) -> None:
    """Warn where delta would allow to publish some records whole."""
    if delta >= 1 / (10 * num_records):
        warnings.warn(
            f"delta is {delta:g}, but should be well below 1 / {num_records} records: at that, a mechanism that "
            "publishes a record now and then would pass for private",
            stacklevel=3,
        )


def warn_of_noise(noise_multiplier: float, size: int, expected: float) -> None:
    """Warn where noise is longer than the sum of a batch can be, if all gradients are at the clip."""
    if noise_multiplier * size**0.5 > expected:
        warnings.warn(
            f"noise drowns the gradient: {noise_multiplier:.3g} clips on each of {size} parameters are longer "
            f"than {expected:g} gradients; larger batches, fewer steps or a larger epsilon would help",
            stacklevel=3,
        )
