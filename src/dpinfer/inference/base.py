"""One interface for every algorithm."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from dpinfer.accounting.events import Event
from dpinfer.errors import InputError
from dpinfer.types import Key, Records, Tree


def no_centre(state: Any) -> Tree:
    """For algorithms of which no single point is a sensible place to start another from."""
    del state
    raise InputError("this method has no point that another run could start from")


def keep_nothing(state: Any, info: Any) -> Tree:
    """For algorithms of which the end alone counts."""
    del state, info
    return ()


class Spender(Protocol):
    """What records are paid for by: a `dpinfer.accounting.budget.Budget`."""

    def spend(self, event: Event, what: str) -> Any:
        """Book an event, or refuse it."""

    def holds(self, event: Event) -> bool:
        """Whether the event has been booked."""


class Algorithm(NamedTuple):
    """A way to learn parameters from records, in steps.

    A step is an update by what is random about it. The two are apart so that the randomness of many steps can be
    drawn at once, which is several times quicker than drawing it step by step.

    Attributes:
        init: `(key, records) -> state`.
        random: `(key, state) -> randomness` of one step; of the state it uses the shapes alone.
        update: `(randomness, state, records) -> (state, info)`; deterministic.
        draw: `(key, state) -> parameters`, one draw from the approximate posterior.
        event: `num_steps -> event`, what that many steps tell about the records.
        keep: `(state, info) -> tree`, what is kept of a step that is recorded, such as a chain's position.
        centre: `state -> parameters`, the point that another run may start from.
    """

    init: Callable[[Key, Records], Any]
    random: Callable[[Key, Any], Any]
    update: Callable[[Any, Any, Records], tuple[Any, Any]]
    draw: Callable[[Key, Any], Tree]
    event: Callable[[int], Event]
    keep: Callable[[Any, Any], Tree] = keep_nothing
    centre: Callable[[Any], Tree] = no_centre

    def step(self, key: Key, state: Any, records: Records) -> tuple[Any, Any]:
        """One step by its key."""
        return self.update(self.random(key, state), state, records)
