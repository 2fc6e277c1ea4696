"""What settings share: strict types, no unknown key, fields with their bounds, and how a run is accounted for."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pipeline.registry import ACCOUNTANTS

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=True)

Count = Annotated[int, Field(gt=0)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PositiveOrInf = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, le=1)]
Probability = Annotated[float, Field(gt=0, lt=1)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Scale = Literal["smoke", "laptop", "paper"]
Adjacency = Literal["add-remove", "replace-one"]


if TYPE_CHECKING:
    Accountant = str
else:
    # Type checkers do not take a literal that is computed.
    Accountant = Literal[tuple(ACCOUNTANTS)]
Options = Annotated[
    dict[str, str | int | float], Field(description="Options of the accountant, such as max_lambda or form.")
]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Claimed:
    """Where the paper's account of a run departs from the run itself."""

    sampler: Annotated[
        Literal["poisson", "subset"] | None,
        Field(description="How the paper's accountant takes batches to be drawn; by default as they are."),
    ] = None
    sampling_rate: Annotated[
        Rate | None, Field(description="The paper's sampling rate, where batches were rounded to whole records.")
    ] = None
    clipped: Annotated[
        bool | None, Field(description="True where the paper takes gradients to be bounded that are not clipped.")
    ] = None
    adjacency: Annotated[
        Adjacency | None, Field(description="The paper's neighbours; by default those of the run.")
    ] = None
    delta: Annotated[Probability | None, Field(description="The paper's delta; by default the run's.")] = None
    options: Options = Field(default_factory=dict)
    noise_factor: Annotated[
        Positive, Field(description="The accountant sees the noise multiplier times this, as some papers do.")
    ] = 1.0
    epsilon_factor: Annotated[Positive, Field(description="Epsilon is the accountant's value times this.")] = 1.0
