"""Settings of the studies: computations that need neither data nor a fit, such as curves of epsilon."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from dpinfer.audit.names import CONFIDENCE, MOST_OF_USERS, TRIALS, Mechanism
from dpinfer.inference.names import LOGISTIC_VARIANCE
from pipeline.settings.base import (
    STRICT,
    Accountant,
    Adjacency,
    Count,
    NonNegative,
    Options,
    Positive,
    Probability,
    Rate,
    Seed,
)
from pipeline.settings.model import Classifier, Vae

Over = Literal["num_steps", "sampling_rate", "noise_multiplier"]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Span:
    """Values between two ends, both included."""

    start: float
    stop: float
    count: Count
    spacing: Annotated[
        Literal["linear", "log", "whole"],
        Field(description="Evenly spaced, evenly spaced in the logarithm, or whole numbers evenly spaced."),
    ] = "linear"


Values = Annotated[
    tuple[float, ...] | Span, Field(description="A list of values, or a span {start, stop, count, spacing}.")
]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Curve:
    """Epsilon along one variable, by one accountant."""

    study: Literal["curve"] = "curve"
    sampler: Annotated[
        Literal["full", "poisson", "subset", "barker"],
        Field(description="How records are sampled; barker is the subsampled Barker test."),
    ] = "poisson"
    over: Annotated[Over, Field(description="The variable on the horizontal axis.")]
    values: Values
    num_steps: Annotated[Count, Field(description="Number of releases.")] = 1
    sampling_rate: Annotated[Rate, Field(description="Share of the records in a batch.")] = 1.0
    noise_multiplier: Annotated[Positive, Field(description="Noise standard deviation over clip.")] = 1.0
    records: Annotated[Count | None, Field(description="Number of records, for the Barker test.")] = None
    delta: Probability
    adjacency: Adjacency = "add-remove"
    accountant: Accountant = "pld"
    options: Options = Field(default_factory=dict)
    noise_factor: Annotated[
        Positive, Field(description="The accountant sees the noise multiplier times this, as some papers do.")
    ] = 1.0
    epsilon_factor: Annotated[Positive, Field(description="Epsilon is the accountant's value times this.")] = 1.0
    lower: Annotated[bool, Field(description="Whether the lower bound is computed as well (pld only).")] = False

    @model_validator(mode="after")
    def _barker_counts_records(self) -> Self:
        if (self.sampler == "barker") != (self.records is not None):
            raise ValueError("records should be given for the sampler barker, and for no other")
        if self.lower and self.accountant != "pld":
            raise ValueError("lower is for the accountant pld alone")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Orders:
    """Epsilon as a function of the Renyi order, and the best order by a fixed grid and by continuous search."""

    study: Literal["orders"] = "orders"
    sampling_rate: Rate
    noise_multiplier: Positive
    num_steps: Count
    delta: Probability
    curve: Annotated[
        Literal["poisson", "wang"],
        Field(description="Poisson sampling, or Wang's bound for subsets without replacement."),
    ] = "poisson"
    clips: Annotated[Positive, Field(description="Sensitivity in clips that Wang's bound is evaluated at.")] = 2.0
    values: Values


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Search:
    """What a continuous search over Renyi orders gains over the grid of 72, at many settings."""

    study: Literal["search"] = "search"
    sampling_rates: tuple[Rate, ...]
    noise_multipliers: tuple[Positive, ...]
    num_steps: tuple[Count, ...]
    delta: Probability


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Dominance:
    """Bounds on the Renyi divergence of one Barker test, against the worst case of Theorem 2's assumptions."""

    study: Literal["dominance"] = "dominance"
    batch: Annotated[int, Field(ge=10)]
    orders: Values


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Noise:
    """The noise that a target needs, as a function of the sampling rate."""

    study: Literal["noise"] = "noise"
    sampling_rates: tuple[Rate, ...]
    num_steps: Count
    epsilon: Positive
    delta: Probability
    accountant: Accountant = "pld"
    options: Options = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Feistel:
    """What batches by a Feistel network cost, or how evenly they include the records."""

    study: Literal["feistel"] = "feistel"
    measure: Annotated[
        Literal["walks", "inclusion"],
        Field(description="Applications of the network, or inclusion probabilities of the records."),
    ]
    records: Annotated[Count, Field(description="Number of records, n.")]
    batch: Annotated[Count, Field(description="Size of a batch, B.")]
    keys: Annotated[Count, Field(description="Random keys drawn: each chooses one batch.")]
    seed: Annotated[Seed, Field(description="Seed that the keys follow from.")] = 0

    @model_validator(mode="after")
    def _batch_fits(self) -> Self:
        if self.batch > self.records:
            raise ValueError(f"batch is {self.batch}, but should be at most the number of records, {self.records}")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TimeSampling:
    """What one minibatch costs by our samplers and by JAX's, measured in turns."""

    study: Literal["time_sampling"] = "time_sampling"
    records: Annotated[Count, Field(description="Number of records, n.")]
    batch: Annotated[Count, Field(description="Expected size of a batch.")]
    draws: Annotated[Count, Field(description="Batches drawn for one measurement.")] = 10_000
    builtin: Annotated[bool, Field(description="Whether JAX's ways are timed as well: they cost O(n).")] = True
    rounds: Annotated[Count, Field(description="How often each is measured.")] = 7


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TimeSteps:
    """What a step of DP-VI on hierarchical logistic regression costs: in a Python loop, and all seeds at once."""

    study: Literal["time_steps"] = "time_steps"
    records: Annotated[Count, Field(description="Number of records.")] = 500
    expected_batch: Annotated[Count, Field(description="Expected size of a batch.")] = 10
    sampler: Literal["poisson", "subset"] = "poisson"
    num_steps: Annotated[Count, Field(description="Steps of a whole run, and of one measurement.")] = 100_000
    seeds: Annotated[Count, Field(description="Repetitions run in one program.")] = 10
    loop_steps: Annotated[Count, Field(description="Steps of one measurement of the Python loop.")] = 2000
    rounds: Annotated[Count, Field(description="How often each is measured.")] = 5


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TimeClients:
    """What a round of partitioned inference costs when the same records are dealt out to few or many clients."""

    study: Literal["time_clients"] = "time_clients"
    records: Annotated[Count, Field(description="Number of records of all clients together.")]
    rate: Annotated[Rate, Field(description="Share of its records that a client's step sees, expected.")] = 1.0
    few: Annotated[Count, Field(description="Number of clients, to which the others are compared.")] = 10
    many: Annotated[Count, Field(description="Number of clients.")] = 100
    local_steps: Annotated[Count, Field(description="Steps that each client takes in a round.")] = 50
    num_rounds: Annotated[Count, Field(description="Rounds of one measurement.")] = 20
    rounds: Annotated[Count, Field(description="How often each is measured.")] = 9


Stepping = Literal[
    "exact", "clipped", "private", "choice", "vmap", "single", "numpyro", "mean", "update", "mean_update",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TimeNetwork:
    """What a step of DP-SGD on a network costs, over that of the same step without privacy."""

    study: Literal["time_network"] = "time_network"
    network: Annotated[Vae | Classifier, Field(discriminator="name", description="The model.")]
    records: Annotated[Count, Field(description="Number of records, n.")] = 60_000
    batch: Annotated[Count, Field(description="Size of a batch.")] = 128
    programs: Annotated[
        tuple[Stepping, ...],
        Field(
            description="exact: without privacy. clipped: by book-keeping, without noise. private: with noise. "
            "choice: that, with batches drawn by JAX. vmap: gradients in memory. single: one gradient after the "
            "other. numpyro: without privacy, NumPyro's SVI on the same model. mean: a batch's mean is clipped, "
            "as in PyVacy, which hides nobody. update, mean_update: what exact and mean do with a mean gradient."
        ),
    ] = ("exact", "clipped", "private")
    steps: Annotated[Count, Field(description="Steps of one measurement.")] = 20
    optimiser: Annotated[Literal["adam", "sgd"], Field(description="What moves the parameters.")] = "adam"
    slow_steps: Annotated[Count, Field(description="Steps of one measurement of vmap and single.")] = 2
    rounds: Annotated[Count, Field(description="How often each is measured.")] = 7

    @model_validator(mode="after")
    def _is_relative_to_exact(self) -> Self:
        if "exact" not in self.programs:
            raise ValueError("programs should contain exact, which the others are compared with")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Audit:
    """A lower bound on the epsilon of a mechanism, from many runs on two neighbouring data sets."""

    study: Literal["audit"] = "audit"
    mechanism: Annotated[Mechanism, Field(description="What is audited; `dpinfer audit` lists them.")]
    trials: Annotated[
        int,
        Field(ge=20, description=f"Runs on each of the two data sets; of users' calls {MOST_OF_USERS} at most."),
    ] = TRIALS
    confidence: Annotated[Probability, Field(description="Probability with which the bound holds.")] = CONFIDENCE
    seed: Annotated[Seed, Field(description="Seed that all runs follow from.")] = 0


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


Study = Annotated[
    Curve
    | Orders
    | Search
    | Dominance
    | Decomposition
    | Noise
    | Feistel
    | Audit
    | TimeSampling
    | TimeSteps
    | TimeClients
    | TimeNetwork,
    Field(discriminator="study"),
]
TIMED = (TimeSampling, TimeSteps, TimeClients, TimeNetwork)
"""Studies that measure time, and therefore run alone on a machine."""
