"""Settings of Markov chains: DP-MCMC with Barker's test and its correction, its references, and both DP-SGLDs."""

import math
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from dpinfer.inference.names import (
    LOGISTIC_VARIANCE,
    THEOREM_2_VARIANCE,
    ExactTest,
    Fitting,
    ProposalName,
    StepSizes,
)
from pipeline.settings.base import STRICT, Count, NonNegative, Positive
from pipeline.settings.cell import Cell, Sampled

Steps = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CorrectionFitting(Fitting):
    """A symmetric Gaussian mixture whose sum with N(0, `variance`) is nearly standard logistic."""

    variance: Annotated[NonNegative, Field(lt=LOGISTIC_VARIANCE, description="Variance C of the normal part.")] = (
        2.0
    )
    components: Annotated[Count, Field(description="Components, each of which has a mirror image.")] = 50
    num_steps: Annotated[Count, Field(description="Steps of Adam.")] = 10_000
    learning_rate: Positive = 1e-2
    reach: Annotated[Positive, Field(description="Densities are compared on [-reach, reach].")] = 10.0
    points: Annotated[Count, Field(description="Evenly spaced points at which they are.")] = 1000
    patience: Annotated[
        Count | None, Field(description="Stop after so many steps without a smaller loss; by default never.")
    ] = None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Chain(Cell):
    """What every chain needs to know."""

    tempered_records: Annotated[
        Count | None,
        Field(description="The likelihood counts as that of so many records, N0; by default as it is."),
    ] = None
    burn_in: Annotated[Steps, Field(description="First steps, which running moments leave out.")] = 0


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Metropolised(Chain):
    """A chain that proposes a move and tests it."""

    proposal: Annotated[
        ProposalName,
        Field(
            description="How numbers are moved: by a normal draw, or by one from a ball, which bounds the move. "
            "Whole numbers go one down, stay, or go one up in any case."
        ),
    ] = "gaussian"
    proposal_variance: Annotated[Positive | None, Field(description="Variance of a normal move.")] = None
    proposal_radius: Annotated[Positive | None, Field(description="Radius of the ball of moves.")] = None
    noise_variance: Annotated[
        Positive, Field(lt=LOGISTIC_VARIANCE, description="Variance C of the normal part of the logistic noise.")
    ] = THEOREM_2_VARIANCE
    correction_steps: Annotated[
        Count, Field(description="Steps of the optimiser that fits the rest of the logistic noise.")
    ] = 10_000

    @model_validator(mode="after")
    def _one_size_of_moves(self) -> Self:
        wanted = {"gaussian": "proposal_variance", "ball": "proposal_radius"}
        for proposal, name in wanted.items():
            if (getattr(self, name) is not None) != (self.proposal == proposal):
                raise ValueError(f"{name} should be given for the proposal {proposal}, and for no other")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class MinibatchBarker(Metropolised):
    """Barker tests on batches: private with clipped ratios, or without privacy on batches that grow as needed.

    The noise of the private test is fixed by Theorem 2, so that epsilon is a budget which the run must respect,
    and nothing is calibrated.
    """

    method: Literal["barker"] = "barker"
    fixes_noise: ClassVar[bool] = True
    batch: Annotated[int, Field(ge=5, description="Records in a batch, drawn without replacement.")]
    growth: Annotated[
        Count, Field(description="Records that join a batch whose estimate is too wide, without privacy.")
    ] = 100

    @model_validator(mode="after")
    def _one_source_of_noise(self) -> Self:
        if self.noise_multiplier is not None:
            raise ValueError("noise_multiplier is fixed by batch and noise_variance: leave it out")
        if self.epsilon != math.inf and self.delta is None:
            raise ValueError("a private run needs delta")
        if self.epsilon != math.inf and self.noise_variance != THEOREM_2_VARIANCE:
            raise ValueError(f"a private run on batches needs noise_variance {THEOREM_2_VARIANCE:g}")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class FullBatchBarker(Metropolised):
    """Tests on all records: Barker's with noise and clipped ratios, or an exact one without privacy."""

    method: Literal["full_barker"] = "full_barker"
    test: Annotated[ExactTest, Field(description="Which exact test a run without privacy makes.")] = "barker"

    @model_validator(mode="after")
    def _metropolis_is_exact(self) -> Self:
        if self.epsilon != math.inf and self.test != "barker":
            raise ValueError(f"test is {self.test}, but only barker can be private")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Langevin(Chain):
    """DP-SGLD (Li et al., 2019): the noise that makes a gradient step private is the noise of the diffusion.

    So the noise fixes the step size: with s times the clip on a sum over batches of B out of N records, it is
    `diffusion` B^2 / (s^2 clip^2 N).
    """

    method: Literal["langevin"] = "langevin"
    sampler: Annotated[
        Literal["poisson", "subset"], Field(description="Each record by its own coin, or a fixed number.")
    ] = "poisson"
    expected_batch: Annotated[Count, Field(description="Expected number of records in a batch.")]
    clip: Annotated[Positive, Field(description="Largest norm of one record's tempered gradient.")]
    diffusion: Annotated[
        Positive,
        Field(description="Noise variance over the step of the drift: Langevin dynamics have 2."),
    ] = 2.0
    step_size: Annotated[
        Positive | None, Field(description="The step size of a run without privacy, whose noise follows from it.")
    ] = None

    @model_validator(mode="after")
    def _step_or_noise(self) -> Self:
        if (self.epsilon != math.inf) == (self.step_size is not None):
            raise ValueError("step_size should be given for a run without privacy, and for no other")
        return self


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
