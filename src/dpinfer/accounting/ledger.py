"""The ledger of a run: what was released, what it costs by a sound accountant, and what the paper claims.

`eps_sound` is the epsilon of everything recorded, for the sampler and adjacency actually run. `eps_paper` is
the sum of the claims: the paper's own accountant with the paper's own convention. Where no finite epsilon is
justified `eps_sound` is infinite and `reason` says why.

A ledger is a value: recording returns a new one, and recording beyond the budget raises before anything is
kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dpinfer.accounting import accountant as load
from dpinfer.accounting.base import Bound, check_delta, check_relation, each, parts, worst
from dpinfer.accounting.events import Adjacency, Compose, Event, Relation, from_dict, to_dict
from dpinfer.atomic import read_json, write_json
from dpinfer.errors import InputError

QUICK = "rdp"
"""Its divergences add up over steps, so that after the first account all others take no time."""


class BudgetExceededError(InputError):
    """A release would cost more than the declared budget."""


@dataclass(frozen=True)
class Entry:
    """One release and where it happened."""

    event: Event
    what: str


@dataclass(frozen=True)
class StatedAccount:
    """An epsilon as a paper accounts it.

    It is `factor` times the accountant's value for the event as the paper sees it, which may differ from the
    event that was run.
    """

    event: Event
    accountant: str
    delta: float
    adjacency: Adjacency
    factor: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)

    def epsilon(self) -> float:
        """Return the claimed epsilon, of the part of the records that pays most."""
        return max(self.epsilons())

    def epsilons(self) -> list[float]:
        """Return the claimed epsilon of each part of the records."""
        bounds = each(load(self.accountant), self.event, self.delta, self.adjacency, **self.options)
        return [self.factor * float(bound.upper) for bound in bounds]


@dataclass(frozen=True)
class Ledger:
    """Everything one set of records has paid for.

    Attributes:
        adjacency: The relation of the guarantee: which data sets count as neighbours.
        delta: The delta of the guarantee.
        budget: Largest epsilon that may be spent, or None.
        accountant: The sound accountant.
        generator: What the noise was drawn by, or None where that is not known.
        entries: The releases so far.
        claims: What the paper would say of them.
    """

    adjacency: Relation
    delta: float
    budget: float | None = None
    accountant: str = "pld"
    generator: str | None = None
    entries: tuple[Entry, ...] = ()
    claims: tuple[StatedAccount, ...] = ()

    def __post_init__(self) -> None:
        check_relation(self.adjacency)
        check_delta(self.delta)
        if self.budget is not None and not self.budget > 0.0:
            raise InputError(f"The budget is {self.budget!r}, but must be a positive epsilon or None.")

    @property
    def event(self) -> Event:
        """All releases as one event."""
        return Compose(tuple(entry.event for entry in self.entries))

    def sound(self) -> Bound:
        """Return the sound epsilon of everything recorded; infinite, with the reason, where there is none."""
        try:
            return worst(load(self.accountant), self.event, self.delta, self.adjacency)
        except InputError as error:
            return Bound(math.inf, None, self.accountant, str(error))

    def clients(self) -> list[dict[str, float | None]]:
        """Return both epsilons of each part of the records, where there are several."""
        if len(parts(self.event)) == 1:
            return []
        sound = [replace(self, entries=(Entry(own, "part"),)).sound().upper for own in parts(self.event)]
        claimed = [claim.epsilons() for claim in self.claims]
        paper = [math.fsum(values) for values in zip(*claimed, strict=True)] if claimed else [None] * len(sound)
        if len(paper) == 1:
            paper = paper * len(sound)
        return [{"eps_sound": own, "eps_paper": of_paper} for own, of_paper in zip(sound, paper, strict=True)]

    def paper(self) -> float | None:
        """Return the sum of the paper's claims, or None if there are none."""
        return math.fsum(claim.epsilon() for claim in self.claims) if self.claims else None

    def spend(self, event: Event, what: str, *claims: StatedAccount) -> Ledger:
        """Return the ledger with one more release, or raise `BudgetExceededError`."""
        grown = replace(self, entries=(*self.entries, Entry(event, what)), claims=(*self.claims, *claims))
        grown._check(what)
        return grown

    def compose(self, earlier: Ledger) -> Ledger:
        """Return the ledger of this run started from the result of an earlier one on the same records."""
        if earlier.adjacency != self.adjacency:
            raise InputError(
                f"The earlier ledger is for {earlier.adjacency} adjacency, but this one is for {self.adjacency}."
            )
        joined = replace(self, entries=(*earlier.entries, *self.entries), claims=(*earlier.claims, *self.claims))
        joined._check("the earlier run")
        return joined

    def _check(self, what: str) -> None:
        if self.budget is None:
            return
        bound = self.sound()
        if not bound.upper <= self.budget:
            raise BudgetExceededError(
                f"With {what} epsilon would be {bound.upper:.6g} at delta {self.delta:g} ({self.adjacency}), "
                f"but the budget is {self.budget:g}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the ledger with its epsilons as plain values."""
        bound = self.sound()
        return {
            "adjacency": self.adjacency,
            "delta": self.delta,
            "budget": self.budget,
            "accountant": self.accountant,
            "generator": self.generator,
            "eps_sound": bound.upper,
            "eps_paper": self.paper(),
            "reason": bound.detail,
            "clients": self.clients(),
            "entries": [{"what": entry.what, "event": to_dict(entry.event)} for entry in self.entries],
            "claims": [
                {
                    "event": to_dict(claim.event),
                    "accountant": claim.accountant,
                    "delta": claim.delta,
                    "adjacency": claim.adjacency,
                    "factor": claim.factor,
                    "options": claim.options,
                }
                for claim in self.claims
            ],
        }

    def write(self, path: Path) -> None:
        """Write the ledger as JSON, all or nothing."""
        write_json(path, self.to_dict())


def progress_note(ledger: Ledger, event: Event, accountant: str = QUICK) -> str:
    """Bound the epsilon of an event after what a ledger holds, for a progress bar: quick, and on the safe side.

    The ledger at the end of a run is tighter.

    Args:
        ledger: What the records have paid for before; where it has a budget, the whole run is within it.
        event: What has been released since.
        accountant: Who bounds it.
    """
    bound = replace(ledger, accountant=accountant, budget=None).spend(event, "so far").sound()
    most = min(bound.upper, math.inf if ledger.budget is None else ledger.budget)
    return f"epsilon <= {most:.3g}" if math.isfinite(most) else "no bound on epsilon so far"


def ledger_from_dict(values: dict[str, Any]) -> Ledger:
    """Read a ledger written by `Ledger.to_dict`; its epsilons are computed again when asked for."""
    try:
        return Ledger(
            adjacency=values["adjacency"],
            delta=values["delta"],
            budget=values["budget"],
            accountant=values["accountant"],
            generator=values["generator"],
            entries=tuple(Entry(from_dict(entry["event"]), entry["what"]) for entry in values["entries"]),
            claims=tuple(
                StatedAccount(**{**claim, "event": from_dict(claim["event"])}) for claim in values["claims"]
            ),
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"The ledger cannot be read: {error}.") from error


def read(path: Path) -> Ledger:
    """Read a ledger written by `Ledger.write`."""
    content = read_json(path)
    try:
        return ledger_from_dict(content)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
