"""Settings of stochastic gradient Langevin dynamics."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from dpinfer.inference.names import StepSizes
from pipeline.settings.base import STRICT, Count, Positive
from pipeline.settings.cell import Sampled


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Sgld(Sampled):
    """Langevin dynamics of Wang, Fienberg and Smola (2015); clip is what they call the Lipschitz constant L."""

    method: Literal["sgld"] = "sgld"
    clipped: Annotated[
        bool, Field(description="Whether gradients are clipped, or only taken to be bounded, which hides nobody.")
    ] = True
    radius: Annotated[
        Positive | None, Field(description="Norm beyond which the position is projected back; none by default.")
    ] = None
    step_size: Annotated[Positive, Field(description="Step size on the gradient of all records.")]
    schedule: Annotated[
        StepSizes,
        Field(description="harmonic: 1, 1/2, 1/3, ... until step_size is reached, then that."),
    ] = "constant"
    samples: Annotated[Count, Field(description="How many of the last positions are the posterior.")] = 100

    @model_validator(mode="after")
    def _has_enough_samples(self) -> Self:
        if self.samples > self.num_steps:
            raise ValueError(f"samples is {self.samples}, but should be at most num_steps, {self.num_steps}")
        return self
