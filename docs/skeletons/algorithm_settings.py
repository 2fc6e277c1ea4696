"""Settings of gradient descent with momentum."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from pipeline.settings.base import STRICT, Positive, Rate
from pipeline.settings.cell import Cell


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Momentum(Cell):
    """Full-batch gradient descent with momentum, made private by clipping and noise."""

    method: Literal["momentum"] = "momentum"
    learning_rate: Annotated[Positive, Field(description="Step size on the mean gradient per record.")]
    momentum: Annotated[Rate, Field(description="Share of the last move that is kept.")] = 0.9
    clip: Annotated[Positive, Field(description="Largest norm of one record's gradient, where it is private.")]
