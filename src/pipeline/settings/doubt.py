"""Settings of the doubts: where words on privacy, or the evidence for them, do not carry what is built on them."""

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from pipeline.settings.base import STRICT

GENERAL = "general"
"""Stands for the paper in the id of a doubt about several of them."""


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Doubt:
    """One doubt, and what is done about it here."""

    id: Annotated[
        str, Field(pattern="^[a-z0-9]+-[0-9]+$", description=f"The paper, or {GENERAL}, and a running number.")
    ]
    title: Annotated[str, Field(description="The doubt in one line.")]
    claimed: Annotated[str, Field(description="What the paper says or takes for granted.")]
    why: Annotated[str, Field(description="Why it fails, or is open.")]
    instead: Annotated[str, Field(description="What is done here.")]
    claims: Annotated[tuple[str, ...], Field(description="Claims that it touches, by id.")]
    figures: Annotated[tuple[str, ...], Field(description="Figures that it touches.")]

    @property
    def paper(self) -> str:
        """The paper that it is about, or `GENERAL`."""
        return self.id.partition("-")[0]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Doubts:
    """All doubts: `config/doubts.yaml`."""

    doubts: tuple[Doubt, ...]
