"""What a run has cost so far, for its progress bar: quick, and on the safe side."""

import math
from dataclasses import replace

from dpinfer.accounting.events import Event
from dpinfer.accounting.ledger import Ledger

QUICK = "rdp"
"""Its divergences add up over steps, so that after the first account all others take no time."""


def so_far(ledger: Ledger, event: Event, accountant: str = QUICK) -> str:
    """Bound the epsilon of an event after what a ledger holds; the ledger at the end of a run is tighter.

    Args:
        ledger: What the records have paid for before; where it has a budget, the whole run is within it.
        event: What has been released since.
        accountant: Who bounds it.
    """
    bound = replace(ledger, accountant=accountant, budget=None).spend(event, "so far").sound()
    most = min(bound.upper, math.inf if ledger.budget is None else ledger.budget)
    return f"epsilon <= {most:.3g}" if math.isfinite(most) else "no bound on epsilon so far"
