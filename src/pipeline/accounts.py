"""What a run costs: by a sound accountant, and as its paper accounts for it."""

from collections.abc import Sequence

from dpinfer.accounting.base import accounted_as
from dpinfer.accounting.events import Event
from dpinfer.accounting.ledger import BudgetExceededError, Ledger, StatedAccount
from pipeline.derived import is_private
from pipeline.settings.method import Method
from pipeline.settings.pvi import PviRecords

DELTA = 1e-6
"""Stands in the ledger of a run without privacy, whose epsilon is infinite at every delta."""


def claim(settings: Method, claimed: Event) -> StatedAccount:
    """What the paper says of a private run, given what was released as the paper sees it."""
    assert settings.delta is not None
    departing = settings.claimed
    return StatedAccount(
        event=claimed,
        accountant=settings.accountant,
        delta=departing.delta or settings.delta,
        adjacency=departing.adjacency or settings.adjacency,
        factor=departing.epsilon_factor,
        options=dict(departing.options),
    )


def sound(settings: Method, event: Event) -> StatedAccount:
    """What a private run really costs, as a claim of the sound accountant."""
    assert settings.delta is not None
    return StatedAccount(event, Ledger.accountant, settings.delta, settings.adjacency)


def spent(
    settings: Method, event: Event, claimed: Event, earlier: Ledger | None = None, generator: str | None = None
) -> Ledger:
    """The ledger of one repetition, or of its first steps.

    Args:
        settings: The cell's settings.
        event: What was released.
        claimed: The same as the paper sees it.
        earlier: What the records have paid for the run that this one starts from.
        generator: What the noise was drawn by.

    Raises:
        BudgetExceededError: That is more than a sound target allows.
    """
    ledger = Ledger(
        adjacency=settings.adjacency,
        delta=settings.delta or DELTA,
        budget=settings.epsilon if is_private(settings) and settings.target == "sound" else None,
        generator=generator,
    )
    if earlier is not None:
        ledger = ledger.compose(earlier)
    says = (
        claim(settings, claimed)
        if is_private(settings)
        # Without privacy every accountant says the same.
        else StatedAccount(event, ledger.accountant, ledger.delta, accounted_as(ledger.adjacency))
    )
    ledger = ledger.spend(event, settings.method, says)
    if isinstance(settings, PviRecords) and settings.target == "sound":
        _refuse_overspent(ledger, [own.budget for own in settings.own])
    return ledger


def _refuse_overspent(ledger: Ledger, budgets: Sequence[float | None]) -> None:
    """Hold every client's sound epsilon against its own budget, where it has one."""
    if all(budget is None for budget in budgets):
        return
    spent = [own["eps_sound"] for own in ledger.clients()] or [ledger.sound().upper] * len(budgets)
    for client, (epsilon, budget) in enumerate(zip(spent, budgets, strict=True)):
        if budget is not None and (epsilon is None or epsilon > budget):
            raise BudgetExceededError(f"client {client} would spend epsilon {epsilon}, but its budget is {budget}")
