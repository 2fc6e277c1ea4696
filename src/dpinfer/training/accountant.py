"""What the steps of an optimiser cost: counted as they are made, refused where a budget would not allow them."""

from dpinfer import accounting
from dpinfer.accounting.events import Adjacency, Event, Repeat
from dpinfer.accounting.ledger import Ledger
from dpinfer.errors import InputError


class Accountant:
    """Counts steps that all tell the same about the records.

    Attributes:
        steps: How many have been made.
        budget: Largest epsilon that they may cost, or None.
    """

    def __init__(
        self, event: Event, delta: float, adjacency: Adjacency, budget: float | None = None, name: str = "rdp"
    ) -> None:
        """Begin with no step made.

        Args:
            event: What one step tells.
            delta: Delta of the guarantee.
            adjacency: Which data sets count as neighbours.
            budget: Largest epsilon that the steps may cost.
            name: One of `dpinfer.accounting.ACCOUNTANTS`. By Rényi divergences a step more takes no time to
                account for; `pld` gives smaller numbers, but takes longer than many a step.
        """
        if budget is not None and not budget > 0:
            raise InputError(f"the budget is {budget}, but should be positive")
        self._event, self._delta, self._adjacency = event, delta, adjacency
        self._accountant = accounting.accountant(name)
        self.steps, self.budget = 0, budget
        # An account that cannot be made is refused here, before any step.
        self.epsilon(1)

    def epsilon(self, steps: int | None = None) -> float:
        """What the steps made so far cost, or that many steps."""
        count = self.steps if steps is None else steps
        event = Repeat(event=self._event, count=count)
        return self._accountant.epsilon(event, self._delta, self._adjacency).upper

    @property
    def next_epsilon(self) -> float:
        """What it will have cost after one more step."""
        return self.epsilon(self.steps + 1)

    @property
    def allows_another(self) -> bool:
        """Whether the budget, if there is one, has room for one more step."""
        return self.budget is None or self.next_epsilon <= self.budget

    def spend(self) -> None:
        """Count one more step, or refuse it."""
        if not self.allows_another:
            after = self.next_epsilon
            raise InputError(f"the next step would bring epsilon to {after:.6g}, beyond the budget {self.budget}")
        self.steps += 1

    def ledger(self) -> Ledger:
        """The steps made so far, for a record of what was spent: its sound epsilon is by `pld`."""
        ledger = Ledger(adjacency=self._adjacency, delta=self._delta)
        return ledger.spend(Repeat(event=self._event, count=self.steps), "training") if self.steps else ledger
