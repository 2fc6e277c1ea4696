"""A budget belongs to records: all that touches them spends from it, and nothing can spend more than it has.

    budget = Budget(epsilon=1.0, delta=1e-6)
    svi = DPSVI.calibrated(..., budget=budget)
    optimiser = private(..., budget=budget)

What is spent is a plan, such as so many steps of an optimiser, and it is spent before the first of them is taken:
inside of `jax.jit` nobody can be stopped, so that a plan which has been paid for is the most that is run there.

Each place of a plan that was paid for has one release: programs ask for theirs, also when they are compiled.
"""

from __future__ import annotations

import fcntl
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import RLock

from dpinfer.accounting import calibrate
from dpinfer.accounting.events import Compose, Event, Relation, Repeat
from dpinfer.accounting.ledger import BudgetExceededError, Ledger
from dpinfer.accounting.ledger import read as read_ledger
from dpinfer.errors import InputError


class Budget:
    """The largest epsilon that a set of records may cost, and what it has cost so far.

    Args:
        epsilon: The largest epsilon, at `delta`; infinite to count alone.
        delta: The delta of all that is spent together.
        adjacency: Which data sets count as neighbours.
        path: A file in which it is kept, so that it outlives this process and is shared with others: what it holds
            has been spent already. Without one the budget lasts as long as this object.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        adjacency: Relation = "add-remove",
        *,
        path: Path | str | None = None,
    ) -> None:
        limit = None if epsilon == math.inf else epsilon
        self._empty = Ledger(adjacency=adjacency, delta=delta, budget=limit)
        self._ledger = self._empty
        # Resolved: by another name, or from another folder, it is the same file.
        self._path = None if path is None else Path(path).resolve()
        self._lock = RLock()
        self._releases: dict[bytes, bytes] = {}
        self._runs = set[tuple[str, Event]]()

    @property
    def epsilon(self) -> float:
        """The largest epsilon."""
        return math.inf if self._empty.budget is None else self._empty.budget

    @property
    def delta(self) -> float:
        """The delta of all that is spent together."""
        return self._empty.delta

    @property
    def adjacency(self) -> Relation:
        """Which data sets count as neighbours."""
        return self._empty.adjacency

    @property
    def ledger(self) -> Ledger:
        """What has been spent, release by release."""
        if self._path is None or not self._path.exists():
            return self._ledger
        # Events do not depend on the relation or the delta: what was spent is accounted for by this budget's own.
        return replace(self._empty, entries=read_ledger(self._path).entries)

    @property
    def spent(self) -> float:
        """The epsilon of all that has been spent."""
        return self.ledger.sound().upper

    def spend(self, event: Event, what: str, generator: str | None = None) -> Ledger:
        """Book an event, and return the ledger of all so far.

        Args:
            event: What will be released.
            what: What for, in words.
            generator: What its noise will be drawn by, in words.

        Raises:
            BudgetExceededError: It would cost more than is left; then nothing is booked.
        """
        with self._lock, self._alone():
            grown = self.ledger.spend(event, what)
            self._ledger = replace(grown, generator=generator)
            if self._path is not None:
                self._ledger.write(self._path)
                self._path.chmod(0o600)
            return self._ledger

    def holds(self, event: Event) -> bool:
        """Whether an event has been booked."""
        return any(entry.event == event for entry in self.ledger.entries)

    def knows(self, run: str, step: Event) -> bool:
        """Whether a run of such steps, by its name, has been paid for from here."""
        with self._lock:
            if (run, step) not in self._runs:
                # Steps are many, and the file is read slowly: a run that was found is not looked for again.
                own = (entry.event for entry in self.ledger.entries if entry.what.endswith(run))
                self._runs.update((run, event.event) for event in own if isinstance(event, Repeat))
            return (run, step) in self._runs

    def claim(self, place: bytes, release: bytes) -> bool:
        """Whether a release may be made at a place of a plan that was paid for.

        The first to ask has it; whoever goes on from an earlier state in another way asks in vain. It is known to
        this object alone, in this process.
        """
        with self._lock:
            return self._releases.setdefault(place, release) == release

    def allows(self, event: Event) -> bool:
        """Whether there is enough left for an event."""
        try:
            self.ledger.spend(event, "this")
        except BudgetExceededError:
            return False
        return True

    def most_steps(self, step: Event) -> int:
        """The largest number of steps of one kind that there is enough left for."""
        if not self.allows(step):
            return 0
        fresh = calibrate.num_steps(self.epsilon, self.delta, lambda count: Repeat(step, count), self.adjacency)
        if self.allows(Repeat(step, fresh)):
            return fresh
        allowed, refused = 1, fresh
        while refused - allowed > 1:
            middle = (allowed + refused) // 2
            allowed, refused = (middle, refused) if self.allows(Repeat(step, middle)) else (allowed, middle)
        return allowed

    def noise_multiplier(self, event_of: calibrate.EventOf) -> float:
        """The least noise with which an event of it stays within what is left.

        Args:
            event_of: `noise multiplier -> event`.
        """
        earlier = self.ledger.event
        return calibrate.noise_multiplier(
            self.epsilon, self.delta, lambda noise: Compose((earlier, event_of(noise))), self.adjacency
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process read the file before what is booked here is in it."""
        if self._path is None:
            yield
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def __reduce__(self) -> str:
        """Refuse copies, of which each would be spent whole."""
        raise InputError(
            "a budget cannot be copied or pickled, as each copy would be spent: keep it in a file by path=, and "
            "open it from there"
        )

    def __repr__(self) -> str:
        about = f"epsilon={self.epsilon:g}, delta={self.delta:g}, adjacency={self.adjacency!r}"
        return f"Budget({about}, spent={self.spent:.4g})"


def budget_of(budget: Budget | float | None, delta: float | None, adjacency: Relation | None) -> Budget | None:
    """A budget as users may state it: one that is there already, or an epsilon for a new one."""
    if budget is None or isinstance(budget, Budget):
        if budget is not None:
            for name, own, other in (("delta", budget.delta, delta), ("adjacency", budget.adjacency, adjacency)):
                if other is not None and own != other:
                    raise InputError(f"{name} is {other}, but the budget has {own}")
        return budget
    if delta is None:
        raise InputError("a budget needs a delta")
    return Budget(budget, delta, adjacency or "add-remove")
