"""Settings of the study of how logistic noise is decomposed into a normal part and a correction."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from dpinfer.inference.names import LOGISTIC_VARIANCE
from pipeline.settings.base import STRICT, Count, NonNegative, Positive, Seed


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Decomposition:
    """How near a correction brings N(0, C) to the logistic distribution: exactly, and as samples show it."""

    study: Literal["decomposition"] = "decomposition"
    approximation: Annotated[
        Literal["mixture", "ridge"], Field(description="A Gaussian mixture, or ridge regression on a grid.")
    ]
    variance: Annotated[NonNegative, Field(lt=LOGISTIC_VARIANCE, description="Variance C of the normal part.")]
    num_steps: Annotated[Count, Field(description="Steps of Adam, for the mixture.")] = 20_000
    reach: Annotated[Positive, Field(description="The mixture is fitted on [-reach, reach].")] = 10.0
    patience: Annotated[
        Count | None, Field(description="Steps without a smaller loss after which the fit stops.")
    ] = None
    half_points: Annotated[Count, Field(description="n, of the 2n + 1 points of the ridge regression.")] = 4000
    penalty: Annotated[
        Positive, Field(description="Penalty of the ridge regression; it goes with the square of half_points.")
    ] = 10.0
    samples: Annotated[Count, Field(description="Draws for one empirical distribution function.")] = 100_000
    repeats: Annotated[int, Field(ge=0, description="How many of them are drawn.")] = 20
    shown: Annotated[
        int, Field(ge=0, description="Draws for the one that is shown whole, where the figure shows one.")
    ] = 0
    seed: Seed = 1606
