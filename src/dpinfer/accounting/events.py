"""What a mechanism releases about the data, as plain values.

An event names a mechanism and the numbers its privacy rests on; it holds no data and no arrays. The
mechanism that adds the noise states its event, and an accountant turns events into an epsilon. Events are
frozen, hashable and survive `to_dict` / `from_dict` unchanged.

`noise_multiplier` is the standard deviation of the noise divided by the largest norm of ONE record's
contribution. Two data sets are adjacent under "add-remove" if one has one record more, and under
"replace-one" if they differ in the value of one record; a clipped sum moves by at most one clip under the
first and by at most two under the second. Under "zero-out" one record counts nothing, but their number is the
same: that is the relation where the number is public, and what holds for "add-remove" holds for it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, get_args

from dpinfer.errors import InputError

Adjacency = Literal["add-remove", "replace-one"]
ADJACENCIES: tuple[Adjacency, ...] = get_args(Adjacency)
Relation = Adjacency | Literal["zero-out"]
"""What a guarantee may be stated for; accountants know the adjacencies."""
RELATIONS: tuple[Relation, ...] = (*ADJACENCIES, "zero-out")
CUT = 1e-12
"""Probability, over a whole run, that a Poisson batch exceeds the room for batches: it is part of delta."""


def _set_positive(event: object, name: str) -> None:
    """Store the field as a float, refusing everything but a positive finite number."""
    value = getattr(event, name)
    if isinstance(value, bool) or not _is_number(value) or not 0.0 < float(value) < math.inf:
        raise InputError(f"{type(event).__name__}: {name} is {value!r}, but must be a positive finite number.")
    object.__setattr__(event, name, float(value))


def _set_rate(event: object, name: str) -> None:
    """Store the field as a float in (0, 1]."""
    value = getattr(event, name)
    if isinstance(value, bool) or not _is_number(value) or not 0.0 < float(value) <= 1.0:
        raise InputError(f"{type(event).__name__}: {name} is {value!r}, but must lie in (0, 1].")
    object.__setattr__(event, name, float(value))


def _set_count(event: object, name: str, least: int) -> None:
    """Store the field as an int of at least `least`."""
    value = getattr(event, name)
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = -1
    if count < least:
        raise InputError(f"{type(event).__name__}: {name} is {value!r}, but must be a whole number >= {least}.")
    object.__setattr__(event, name, count)


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str)


@dataclass(frozen=True)
class Gaussian:
    """Sum of all clipped records plus Gaussian noise."""

    noise_multiplier: float
    relations: ClassVar[tuple[Adjacency, ...]] = ADJACENCIES

    def __post_init__(self) -> None:
        _set_positive(self, "noise_multiplier")


@dataclass(frozen=True)
class PoissonGaussian:
    """Noisy sum over a Poisson sample: every record is in with probability `sampling_rate`, independently."""

    noise_multiplier: float
    sampling_rate: float
    relations: ClassVar[tuple[Adjacency, ...]] = ADJACENCIES

    def __post_init__(self) -> None:
        _set_positive(self, "noise_multiplier")
        _set_rate(self, "sampling_rate")


@dataclass(frozen=True)
class SubsetGaussian:
    """Noisy sum over a subset of fixed size drawn without replacement; `sampling_rate` is size / records."""

    noise_multiplier: float
    sampling_rate: float
    relations: ClassVar[tuple[Adjacency, ...]] = ADJACENCIES

    def __post_init__(self) -> None:
        _set_positive(self, "noise_multiplier")
        _set_rate(self, "sampling_rate")


@dataclass(frozen=True)
class ReplacementGaussian:
    """Noisy sum over `batch` draws from `records` with replacement: a record counts as often as it is drawn."""

    noise_multiplier: float
    batch: int
    records: int
    relations: ClassVar[tuple[Adjacency, ...]] = ("replace-one",)

    def __post_init__(self) -> None:
        _set_positive(self, "noise_multiplier")
        _set_count(self, "batch", 1)
        _set_count(self, "records", 1)


@dataclass(frozen=True)
class Barker:
    """One Barker test with noise variance C = 2 on `batch` of `records`, drawn without replacement.

    The log-likelihood ratio of one record, times the (tempered) number of records, lies within
    +-sqrt(batch), as Theorem 2 of DP-MCMC (arXiv:1901.10275) asks.
    """

    batch: int
    records: int
    relations: ClassVar[tuple[Adjacency, ...]] = ("replace-one",)

    def __post_init__(self) -> None:
        _set_count(self, "batch", 1)
        _set_count(self, "records", 1)
        if self.batch > self.records:
            raise InputError(f"Barker: batch is {self.batch}, but there are only {self.records} records.")

    @property
    def sampling_rate(self) -> float:
        """Share of the records in one batch."""
        return self.batch / self.records


@dataclass(frozen=True)
class FullBarker:
    """One Barker test on all records: ratios within +-`bound`, Gaussian noise of variance `variance`."""

    bound: float
    variance: float
    relations: ClassVar[tuple[Adjacency, ...]] = ADJACENCIES

    def __post_init__(self) -> None:
        _set_positive(self, "bound")
        _set_positive(self, "variance")


@dataclass(frozen=True)
class Nothing:
    """No data is touched, or only public data."""

    relations: ClassVar[tuple[Adjacency, ...]] = ADJACENCIES


@dataclass(frozen=True)
class NonPrivate:
    """A release for which no finite epsilon is justified, and why."""

    reason: str
    relations: ClassVar[tuple[Adjacency, ...]] = ADJACENCIES

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str) or not self.reason.strip():
            raise InputError(f"NonPrivate: reason is {self.reason!r}, but must say why there is no epsilon.")


@dataclass(frozen=True)
class Repeat:
    """The same event `count` times on the same data, each free to depend on what came before."""

    event: Event
    count: int

    def __post_init__(self) -> None:
        _check_event(self.event)
        _set_count(self, "count", 0)


@dataclass(frozen=True)
class Compose:
    """Several events on the same data, in any order."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(self.events))
        for event in self.events:
            _check_event(event)


@dataclass(frozen=True)
class Disjoint:
    """Several events, each on records of its own, as those of the clients of a federation.

    A record pays for the event of its own part alone, so a guarantee for all is that of the costliest part;
    `accounting.base.each` accounts each.
    """

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(self.events))
        for event in self.events:
            _check_event(event)


Leaf = (
    Gaussian | PoissonGaussian | SubsetGaussian | ReplacementGaussian | Barker | FullBarker | Nothing | NonPrivate
)
Event = Leaf | Repeat | Compose | Disjoint
_KINDS: dict[str, Any] = {cls.__name__: cls for cls in (*get_args(Leaf), Repeat, Compose, Disjoint)}


def _check_event(event: object) -> None:
    if type(event).__name__ not in _KINDS:
        raise InputError(f"An event was expected, but {event!r} was found.")


def _leaves(event: Event, times: int) -> Iterator[tuple[Leaf, int]]:
    if isinstance(event, Repeat):
        yield from _leaves(event.event, times * event.count)
    elif isinstance(event, Compose):
        for part in event.events:
            yield from _leaves(part, times)
    elif isinstance(event, Disjoint):
        raise InputError("Events on disjoint records do not add up: each part must be accounted on its own.")
    else:
        yield event, times


def tally(event: Event) -> tuple[tuple[Leaf, int], ...]:
    """Count the leaves of an event.

    The result is sorted, leaves out `Nothing` and zero counts, and is the same for every order of
    composition: equal tallies mean equal guarantees, so accountants may cache by it.
    """
    _check_event(event)
    counts: dict[Leaf, int] = {}
    for leaf, times in _leaves(event, 1):
        if times > 0 and not isinstance(leaf, Nothing):
            counts[leaf] = counts.get(leaf, 0) + times
    return tuple(sorted(counts.items(), key=repr))


def runs_on_poisson_batches(event: Event) -> int:
    """How many runs, each with its own room for batches, drew Poisson batches."""
    match event:
        case PoissonGaussian(sampling_rate=rate):
            return int(rate < 1.0)
        case Repeat(inner, count):
            return min(count, runs_on_poisson_batches(inner))
        case Compose(events):
            return sum(map(runs_on_poisson_batches, events))
        case Disjoint(events):
            return max(map(runs_on_poisson_batches, events), default=0)
        case _:
            return 0


def with_rate(event: Event, sampling_rate: float) -> Event:
    """Return the event with another sampling rate in every Poisson or subset release of it."""
    if isinstance(event, Repeat):
        return replace(event, event=with_rate(event.event, sampling_rate))
    if isinstance(event, Compose):
        return Compose(tuple(with_rate(part, sampling_rate) for part in event.events))
    if isinstance(event, PoissonGaussian | SubsetGaussian):
        return replace(event, sampling_rate=sampling_rate)
    raise InputError(f"{event} has no sampling rate that could be another.")


def to_dict(event: Event) -> dict[str, Any]:
    """Write an event as a dictionary of plain values with its `kind`."""
    _check_event(event)
    result: dict[str, Any] = {"kind": type(event).__name__}
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name == "events":
            value = [to_dict(part) for part in value]
        elif field.name == "event":
            value = to_dict(value)
        result[field.name] = value
    return result


def from_dict(values: dict[str, Any]) -> Event:
    """Read an event written by `to_dict`, checking every field again."""
    if not isinstance(values, dict):
        raise InputError(f"An event was expected, but {values!r} was found.")
    rest = dict(values)
    kind = rest.pop("kind", None)
    if kind not in _KINDS:
        raise InputError(f"The kind of event is {kind!r}, but must be one of {', '.join(_KINDS)}.")
    names = {field.name for field in fields(_KINDS[kind])}
    if set(rest) != names:
        raise InputError(f"{kind}: the fields are {sorted(rest)}, but must be {sorted(names)}.")
    if "events" in rest:
        rest["events"] = tuple(from_dict(part) for part in rest["events"])
    if "event" in rest:
        rest["event"] = from_dict(rest["event"])
    event: Event = _KINDS[kind](**rest)
    return event
