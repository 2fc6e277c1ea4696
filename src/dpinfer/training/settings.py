"""What the account of an optimiser rests on."""

from dataclasses import asdict, dataclass
from typing import Any

from dpinfer.accounting.events import Event, Relation, to_dict
from dpinfer.sampling.by_name import SamplerName


@dataclass(frozen=True)
class Settings:
    """All that the account of an optimiser rests on.

    Attributes:
        event: What one step tells about the records.
        num_records: How many records there are.
        expected_batch: Expected size of a batch.
        clip: Largest norm of one record's gradient.
        delta: Delta of the guarantee.
        adjacency: Which data sets count as neighbours.
        sampler: How batches are drawn.
        release: Whether keys must be secret and noise is on a grid.
    """

    event: Event
    num_records: int
    expected_batch: float
    clip: float
    delta: float
    adjacency: Relation
    sampler: SamplerName
    release: bool

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain values."""
        return asdict(self) | {"event": to_dict(self.event)}
