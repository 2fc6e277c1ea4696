"""What every mechanism is."""

from collections.abc import Callable
from typing import NamedTuple

from dpinfer.accounting.events import Event
from dpinfer.types import Key, Tree


class Mechanism(NamedTuple):
    """Releases a sum of per-record contributions, and says what that costs.

    Attributes:
        release: `(key, contributions) -> sum`; the leaves of contributions have a leading axis of records.
        event: What one release tells about the data.
    """

    release: Callable[[Key, Tree], Tree]
    event: Event
