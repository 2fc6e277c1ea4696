"""Settings of the claims, what a paper says and how it is computed; and of doubts, where its words do not hold."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from pipeline.settings.base import STRICT, NonNegative

Scalar = str | float | int | bool
GENERAL = "general"
"""Stands for the paper in the id of a doubt about several of them."""


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Selection:
    """Rows of a metrics file and the number they are reduced to."""

    experiment: Annotated[str, Field(description="Experiment whose metrics are read.")]
    metric: Annotated[str, Field(description="Metric whose values are reduced.")]
    where: Annotated[
        dict[str, Scalar], Field(description="Columns and the value each must have; .inf is written as such.")
    ] = Field(default_factory=dict)
    of: Annotated[Literal["value", "eps_paper", "eps_sound"], Field(description="The column that is reduced.")] = (
        "value"
    )
    reduce: Annotated[Literal["mean", "sd", "min", "max"], Field(description="How the seeds are reduced.")] = (
        "mean"
    )
    minus: Annotated[
        "Selection | None", Field(description="What is taken off the number, for claims about differences.")
    ] = None
    over: Annotated[
        "Selection | None", Field(description="What the number is divided by, for claims about ratios.")
    ] = None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Claim:
    """One statement of a paper, and its check.

    `values` with one selection is compared with `published` within `tolerance`, and with `at_least` and
    `at_most`; several must not fall from one to the next by more than `tolerance`. With a `table`, the one
    selection is held against each of its rows, and the share of those that are met is compared.
    """

    id: Annotated[str, Field(description="Identifier, unique over all papers.")]
    where: Annotated[str, Field(description="Where in the paper it stands.")]
    statement: Annotated[str, Field(description="What is claimed, in our words.")]
    values: Annotated[
        tuple[Selection, ...],
        Field(description="One selection to compare with `published`, or several in rising order."),
    ] = ()
    along: Annotated[
        str | None, Field(description="Column at each of whose values the order must hold, as for curves.")
    ] = None
    table: Annotated[
        str | None,
        Field(
            description="Published values: config/published/<paper>/<table>.csv, a `value` for each place that "
            "its other columns name, and perhaps its `sem` or its `tolerance`."
        ),
    ] = None
    published: Annotated[float | None, Field(description="The paper's value.")] = None
    at_least: Annotated[float | None, Field(description="The least value for which the claim holds.")] = None
    at_most: Annotated[float | None, Field(description="The largest value for which the claim holds.")] = None
    tolerance: Annotated[NonNegative, Field(description="Largest difference that still counts as equal.")] = 0.0
    static: Annotated[
        bool, Field(description="Whether it is a diagram, a list or a setting: there is nothing to compute.")
    ] = False
    reason: Annotated[
        str | None, Field(description="Why ours differs, or why the claim cannot be tested here.")
    ] = None

    @model_validator(mode="after")
    def _is_testable_or_says_why(self) -> Self:
        if self.static and self.values:
            raise ValueError("a static claim has no values")
        if not self.values and self.reason is None:
            raise ValueError("a claim without values needs a reason why it is not testable")
        is_compared = any(bound is not None for bound in (self.published, self.at_least, self.at_most))
        if len(self.values) == 1 and not is_compared:
            raise ValueError("a claim with one value needs published, at_least or at_most to compare it with")
        if len(self.values) > 1 and is_compared:
            raise ValueError("a claim about an order has no single value to compare with")
        if self.table is not None and (len(self.values) != 1 or self.published is not None):
            raise ValueError("a claim about a table needs one selection, and at_least for the share that is met")
        if self.along is not None and len(self.values) < 2:
            raise ValueError("along is for claims about an order of several values")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Claims:
    """The claims of one paper: `config/claims/<paper>.yaml`."""

    title: Annotated[str, Field(description="The paper, as a reader would cite it.")]
    claims: tuple[Claim, ...]


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
