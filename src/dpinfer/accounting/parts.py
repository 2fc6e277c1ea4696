"""Accounting of events on disjoint records: each part on its own, the costliest as the guarantee for all.

The clients of a federation hold disjoint records, so that one record's privacy is touched by its own client's
releases alone: the guarantee for every record is the largest epsilon over clients, never the sum.
"""

from __future__ import annotations

from typing import Any

from dpinfer.accounting.base import Bound
from dpinfer.accounting.events import Adjacency, Compose, Disjoint, Event, Repeat
from dpinfer.errors import InputError


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


def worst(module: Any, event: Event, delta: float, adjacency: Adjacency, **options: Any) -> Bound:
    """The bound of the part that costs most, which holds for every record."""
    return max(each(module, event, delta, adjacency, **options), key=lambda bound: bound.upper)
