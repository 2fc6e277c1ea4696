"""A cell: one complete setting of one experiment, run for a number of seeds by one job."""

import math
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from dpinfer.inference.names import GradientOf, OptimiserName, Regulariser
from dpinfer.sampling.names import SamplerName
from pipeline.settings.base import (
    STRICT,
    Accountant,
    Adjacency,
    Claimed,
    Count,
    NonNegative,
    Positive,
    PositiveOrInf,
    Probability,
)
from pipeline.settings.data import Data
from pipeline.settings.model import Model


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Earlier:
    """A fit by the names of its experiment and its cell."""

    experiment: str
    cell: str = "main"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Cell:
    """What every method needs to know, whichever it is."""

    fixes_noise: ClassVar[bool] = False
    """Whether the noise of a private run follows from its other settings."""

    data: Data
    model: Model
    num_steps: Annotated[Count, Field(description="Steps of the algorithm.")]
    record_every: Annotated[
        Count | None,
        Field(description="Keep every so many-th step of the run, for metrics along it; divides num_steps."),
    ] = None
    seeds: Annotated[Count, Field(description="Independent repetitions, run in one compiled program.")] = 1
    epsilon: Annotated[
        PositiveOrInf | None,
        Field(description="Target epsilon for which the noise is calibrated; .inf runs without privacy."),
    ] = None
    noise_multiplier: Annotated[
        Positive | None,
        Field(description="Noise standard deviation over clip, where it is given instead of a target."),
    ] = None
    delta: Annotated[Probability | None, Field(description="Delta of the guarantee.")] = None
    accountant: Annotated[
        Accountant,
        Field(
            description="What the noise is calibrated with and eps_paper computed by; eps_sound is always by pld."
        ),
    ] = "pld"
    start_from: Annotated[
        Earlier | None,
        Field(description="Start where that fit's first seed ended; its privacy cost is added to this run's."),
    ] = None
    adjacency: Annotated[Adjacency, Field(description="Which data sets count as neighbours.")] = "add-remove"
    claimed: Annotated[Claimed, Field(description="Where the paper's account departs from the run itself.")] = (
        Field(default_factory=Claimed)
    )
    target: Annotated[
        Literal["sound", "paper"],
        Field(description="Whose epsilon the target is: sound keeps both within it, paper only the paper's."),
    ] = "sound"

    @model_validator(mode="after")
    def _one_source_of_noise(self) -> Self:
        if (self.epsilon is None) == (self.noise_multiplier is None):
            raise ValueError("exactly one of epsilon and noise_multiplier should be given")
        if self.epsilon != math.inf and self.delta is None:
            raise ValueError("a private run needs delta")
        return self

    @model_validator(mode="after")
    def _only_given_noise_goes_on(self) -> Self:
        is_calibrated = self.noise_multiplier is None and not self.fixes_noise
        if self.start_from is not None and self.epsilon != math.inf and is_calibrated:
            raise ValueError("start_from is for runs whose noise is given: a target would not count the start")
        return self

    @model_validator(mode="after")
    def _recordings_end_with_the_run(self) -> Self:
        if self.record_every is not None and self.num_steps % self.record_every:
            raise ValueError(f"record_every is {self.record_every}, but should divide num_steps, {self.num_steps}")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Descent(Cell):
    """Full-batch gradient descent to the mode of the posterior, made private by clipping and noise."""

    method: Literal["descent"] = "descent"
    learning_rate: Annotated[Positive, Field(description="Step size on the mean gradient per record.")]
    clip: Annotated[Positive, Field(description="Largest norm of one record's gradient, where it is private.")]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Sampled(Cell):
    """What methods need to know that follow clipped gradients on sampled batches."""

    sampler: Annotated[
        SamplerName,
        Field(
            description="Each record by its own coin, or a fixed number: without replacement (choice draws those "
            "as JAX does) or with replacement."
        ),
    ] = "poisson"
    expected_batch: Annotated[Count, Field(description="Expected number of records in a batch.")]
    clip: Annotated[Positive, Field(description="Largest norm of one record's gradient, where it is private.")]
    clip_without_noise: Annotated[
        bool, Field(description="Whether a run without privacy clips all the same, to show what clipping does.")
    ] = False


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Optimised(Sampled):
    """What methods need to know that hand those gradients to an optimiser."""

    optimiser: Annotated[
        OptimiserName,
        Field(
            description="From optax (adam_half: its first decay is 0.5), or AdaGrad that looks back on the last "
            "ten steps or forgets every ten."
        ),
    ] = "adam"
    learning_rate: Annotated[Positive, Field(description="Step size of the optimiser.")] = 1e-3


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Dpvi(Optimised):
    """Variational inference with a Gaussian guide of independent coordinates."""

    method: Literal["dpvi"] = "dpvi"
    gradient_of: Annotated[
        GradientOf,
        Field(description="Whose gradient the optimiser gets: a mean record's, the batch's, or the data's."),
    ] = "record"
    clip_scaled: Annotated[
        bool, Field(description="Whether clip bounds a record's gradient once it is scaled to gradient_of.")
    ] = False
    draws: Annotated[Count, Field(description="Draws from the guide for each record in a step.")] = 1
    shared_draws: Annotated[
        bool, Field(description="Whether all records of a batch see the same draws from the guide.")
    ] = False
    regulariser: Annotated[
        Regulariser,
        Field(description="Whether records share prior and entropy, clip and noise included, or they stay apart."),
    ] = "shared"
    entropy_weight: Annotated[Positive, Field(description="Weight of the guide's entropy; 1 is the ELBO.")] = 1.0
    block_rates: Annotated[
        dict[str, Positive], Field(description="Step sizes of single blocks of parameters, by their names.")
    ] = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Dpsgd(Optimised):
    """Stochastic gradient descent on the loss of a model."""

    method: Literal["dpsgd"] = "dpsgd"
    weight_decay: Annotated[
        NonNegative, Field(description="Times the parameters, it is added to the released gradient.")
    ] = 0.0
    clipping: Annotated[
        Literal["record", "mean_printed", "mean_code"],
        Field(
            description="What is clipped: each record's gradient, or, hiding nobody, a batch's mean, with noise "
            "as PyVacy prints it (sigma clip / sqrt(B)) or as it is in its code (sigma clip / B)."
        ),
    ] = "record"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Gan(Optimised):
    """A generative adversarial network, whose discriminator follows clipped gradients."""

    method: Literal["gan"] = "gan"

    @model_validator(mode="after")
    def _plays_with_a_gan(self) -> Self:
        if self.model.name != "gan":
            raise ValueError(f"the model is {self.model.name}, but should be gan, for this method")
        return self
