"""Settings of partitioned variational inference, which protects single records or whole clients."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from dpinfer.inference.names import ClientOptions, ClipRule, NoiseAt, Optimum, Schedule
from pipeline.settings.base import STRICT, Count, NonNegative, Positive, Probability, Rate, Seed
from pipeline.settings.cell import Cell, Optimised
from pipeline.settings.model import Linear, Logistic


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Client(ClientOptions):
    """What one client does otherwise than the others."""

    noise_factor: Annotated[Positive, Field(description="Its noise multiplier is that of all times this.")] = 1.0
    clip: Annotated[Positive | None, Field(description="Its clip; by default that of all.")] = None
    expected_batch: Annotated[Count | None, Field(description="Its batch; by default that of all.")] = None
    budget: Annotated[
        Positive | None,
        Field(description="Its epsilon: it takes no part in rounds after which it would be exceeded."),
    ] = None


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Federation(Cell):
    """Clients with records of their own and a server; a step is one round of the server."""

    schedule: Annotated[
        Schedule,
        Field(
            description="Who reports in a round: all clients; one after the other; or whoever is ready, having "
            "worked on the posterior of its last report."
        ),
    ] = "synchronous"
    delay: Annotated[
        NonNegative, Field(description="Mean number of rounds that a client misses, where it is asynchronous.")
    ] = 1.0
    schedule_seed: Annotated[Seed, Field(description="Seed of the delays.")] = 0
    damping: Annotated[Rate, Field(description="Share of a client's change that is applied.")] = 1.0

    @model_validator(mode="after")
    def _the_prior_is_gaussian(self) -> Self:
        if not isinstance(self.model, Linear | Logistic):
            raise ValueError(
                f"the model is {self.model.name}, but should be linear or logistic for a Gaussian prior"
            )
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class PviRecords(Optimised, Federation):
    """Clients improve the posterior by clipped and noisy gradients, which protects each of their records."""

    method: Literal["pvi_records"] = "pvi_records"
    local_steps: Annotated[Count, Field(description="Gradient steps of a client for one report.")]
    clipping: Annotated[
        ClipRule,
        Field(
            description="The clip stays; is a percentile of the batch's own norms, which is not private; or "
            "follows a quantile of them by noisy counts."
        ),
    ] = "fixed"
    quantile: Annotated[
        Probability, Field(description="Share of gradients left unclipped, where the clip adapts.")
    ] = 0.5
    clip_rate: Annotated[Positive, Field(description="How fast the clip follows noisy counts.")] = 0.2
    count_noise: Annotated[
        Positive, Field(description="Noise standard deviation on the count, as a share of the expected batch.")
    ] = 0.05
    fetches: Annotated[
        bool,
        Field(
            description="Whether clients fetch the server's posterior; if not, as in the thesis' code, each fits "
            "its records to the prior."
        ),
    ] = True
    own: Annotated[
        tuple[Client, ...], Field(description="What each client does otherwise; empty if they are all alike.")
    ] = ()
    last_rounds: Annotated[
        tuple[int, ...],
        Field(description="Last round of each client; calibration puts in here what the budgets allow."),
    ] = ()

    @model_validator(mode="after")
    def _batches_are_drawn_by_the_shard(self) -> Self:
        if self.sampler not in ("poisson", "subset"):
            raise ValueError(f"sampler is {self.sampler}, but should be poisson or subset for shards of clients")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class PviClients(Federation):
    """Clients report the clipped change of their optimum, and noise protects all that a client has."""

    method: Literal["pvi_clients"] = "pvi_clients"
    clip: Annotated[
        Positive, Field(description="Largest norm of one client's change in natural parameters, where private.")
    ]
    noise_at: Annotated[
        NoiseAt,
        Field(
            description="Who adds noise: every client its share of one clip's worth (Algorithm 3); every client a "
            "clip's worth (its first fix); or the server (Algorithm 4)."
        ),
    ] = "client"
    reset_every: Annotated[
        Count | None, Field(description="Rounds after which all factors are reset to equal shares; never if null.")
    ] = None
    optimum: Annotated[
        Optimum,
        Field(
            description="A client's optimum: by Eq. 4.12, which keeps the diagonal of the precision; the one that "
            "maximises its free energy; or the same by gradient ascent, for any model."
        ),
    ] = "natural"
    local_steps: Annotated[Count, Field(description="Steps of the gradient ascent.")] = 100
    learning_rate: Annotated[Positive, Field(description="Step size of the gradient ascent, by Adam.")] = 0.05

    @model_validator(mode="after")
    def _an_optimum_in_closed_form_needs_a_conjugate_model(self) -> Self:
        if self.optimum != "gradient" and not isinstance(self.model, Linear):
            raise ValueError(f"optimum is {self.optimum}, but should be gradient for the model {self.model.name}")
        return self
