"""What every accountant shares: its answer, its checks of input, its refusal, its answer for disjoint records.

The clients of a federation hold disjoint records, so that one record's privacy is touched by its own client's
releases alone: the guarantee for every record is the largest epsilon over clients, never the sum.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

from dpinfer.accounting.events import (
    ADJACENCIES,
    CUT,
    RELATIONS,
    Adjacency,
    Compose,
    Disjoint,
    Event,
    Leaf,
    NonPrivate,
    PoissonGaussian,
    Relation,
    Repeat,
    runs_on_poisson_batches,
    tally,
)
from dpinfer.errors import InputError

Tally = tuple[tuple[Leaf, int], ...]


class Bound(NamedTuple):
    """A certified interval for an epsilon or a delta.

    Attributes:
        upper: The mechanism satisfies this value (the guarantee).
        lower: No smaller value holds for the worst pair of data sets, or None if that was not computed.
        accountant: Name of the accountant.
        detail: How the value came about, in words.
    """

    upper: float
    lower: float | None
    accountant: str
    detail: str


class Accountant(Protocol):
    """The interface of every accountant module."""

    def supports(self, event: Event, adjacency: Adjacency) -> str | None:
        """Return None if the event can be accounted, else one sentence saying why not."""

    def epsilon(self, event: Event, delta: float, adjacency: Adjacency) -> Bound:
        """Return the epsilon at `delta`; raise `InputError` if it cannot be justified."""


def check_adjacency(adjacency: str) -> None:
    """Refuse an unknown adjacency relation."""
    if adjacency not in ADJACENCIES:
        raise InputError(f"adjacency is {adjacency!r}, but must be one of {', '.join(ADJACENCIES)}.")


def check_relation(relation: str) -> None:
    """Refuse what no guarantee is stated for."""
    if relation not in RELATIONS:
        raise InputError(f"adjacency is {relation!r}, but must be one of {', '.join(RELATIONS)}.")


def check_delta(delta: float) -> float:
    """Return delta as a float if it lies strictly between 0 and 1."""
    if not 0.0 < delta < 1.0:
        raise InputError(f"delta is {delta!r}, but must lie strictly between 0 and 1.")
    return float(delta)


def check_epsilon(epsilon: float) -> float:
    """Return epsilon as a float if it is finite and not negative."""
    if not 0.0 <= epsilon < math.inf:
        raise InputError(f"epsilon is {epsilon!r}, but must be finite and not negative.")
    return float(epsilon)


def refusal(event: Event, adjacency: Adjacency, kinds: tuple[type, ...], name: str) -> str | None:
    """Say why an accountant that knows only `kinds` cannot take this event, or None if it can.

    `NonPrivate` is always taken: its epsilon is infinite.
    """
    check_adjacency(adjacency)
    for leaf, _ in tally(event):
        if adjacency not in leaf.relations:
            return f"{leaf} has no meaning under {adjacency} adjacency."
        if not isinstance(leaf, (*kinds, NonPrivate)):
            known = ", ".join(kind.__name__ for kind in kinds)
            return f"The {name} accountant cannot take {leaf}: it knows {known}."
    return None


def require(reason: str | None) -> None:
    """Raise the reason of a refusal, if there is one."""
    if reason is not None:
        raise InputError(reason)


def trivial(event: Event, name: str, infinite: float = math.inf) -> Bound | None:
    """Return the bound of an event that needs no accountant, else None.

    It is infinite where a part is `NonPrivate`, and zero where nothing is released.
    """
    counts = tally(event)
    for leaf, _ in counts:
        if isinstance(leaf, NonPrivate):
            return Bound(infinite, infinite, name, leaf.reason)
    return None if counts else Bound(0.0, 0.0, name, "nothing is released")


def refusal_of_repeats(event: Event, adjacency: Adjacency, only: Adjacency, name: str) -> str | None:
    """Say why an accountant for repetitions of one Poisson-sampled step, and for one adjacency, refuses."""
    if adjacency != only:
        return f"The {name} accountant is for {only} adjacency, not for {adjacency}."
    if len(tally(event)) > 1:
        return f"The {name} accountant takes repetitions of one step, not {len(tally(event))} different steps."
    return refusal(event, adjacency, (PoissonGaussian,), name)


def parts(event: Event) -> tuple[Event, ...]:
    """The event of each part of the records, in order; one alone where the records are not told apart."""
    match event:
        case Disjoint(events):
            return events
        case Repeat(inner, count):
            return tuple(Repeat(part, count) for part in parts(inner))
        case Compose(events):
            split = [parts(inner) for inner in events]
            sizes = {len(own) for own in split if len(own) > 1}
            if len(sizes) > 1:
                raise InputError(f"Events on {sorted(sizes)} parts of the records cannot be composed.")
            # What does not tell parts apart touches all of them.
            count = max(sizes, default=1)
            aligned = [own if len(own) == count else own * count for own in split]
            return tuple(Compose(tuple(own[number] for own in aligned)) for number in range(count))
        case _:
            return (event,)


def each(module: Any, event: Event, delta: float, adjacency: Adjacency, **options: Any) -> list[Bound]:
    """The bound of an accountant for each part; equal parts are accounted once."""
    own = parts(event)
    bounds = {part: module.epsilon(part, delta, adjacency, **options) for part in dict.fromkeys(own)}
    return [bounds[part] for part in own]


def worst(module: Any, event: Event, delta: float, relation: Relation, **options: Any) -> Bound:
    """The bound of the part that costs most, which holds for every record.

    Of delta, each run on Poisson batches takes the probability that a batch is cut to the room that there is. Let
    O be that the *other* records alone fill the room in some step: it does not depend on the record, and without
    it nothing is cut. So P(E) <= P(O) + P(E | not O), and given not O the steps are those of the account.
    """
    left = delta - CUT * runs_on_poisson_batches(event)
    if delta > 0.0 >= left:
        raise InputError(f"delta is {delta:g}, but each run on Poisson batches takes {CUT:g} of it.")
    return max(each(module, event, left, accounted_as(relation), **options), key=lambda bound: bound.upper)


def accounted_as(relation: Relation) -> Adjacency:
    """The adjacency by which accountants bound a relation.

    A record that counts nothing moves a sum by no more than one that is not there.
    """
    return "add-remove" if relation == "zero-out" else relation
