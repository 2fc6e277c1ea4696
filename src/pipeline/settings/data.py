"""Settings of every data set: real ones, which are fetched, and generated ones."""

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from pipeline.settings.base import STRICT, Count, NonNegative, Positive, Seed

Standin = Annotated[
    bool,
    Field(
        description="Use a small generated stand-in with the same shape, type and label range per record, "
        "so that nothing is downloaded."
    ),
]
DataSeed = Annotated[Seed, Field(description="Seed of the generator; it fixes every record.")]
Finite = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Abalone:
    """Abalone (UCI): 8 standardised columns, label 1 for ten rings or more; 3341 train and 836 test rows."""

    name: Literal["abalone"] = "abalone"
    standin: Standin = False


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Adult:
    """Adult (UCI): census columns, label 1 for an income above 50K; 39 073 train and 9769 test records."""

    name: Literal["adult"] = "adult"
    standin: Standin = False
    encoding: Annotated[
        Literal["sorted", "frequency", "one_hot"],
        Field(
            description="How a categorical column becomes numbers: 'sorted' gives each category its rank in "
            "alphabetical order, 'frequency' its rank by how often it occurs (14 standardised columns); 'one_hot' "
            "gives each category a 0/1 column (6 standardised columns and 102 indicators)."
        ),
    ] = "sorted"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Mnist:
    """MNIST: handwritten digits, 28 x 28 bytes; 60 000 train and 10 000 test records."""

    name: Literal["mnist"] = "mnist"
    standin: Standin = False


@dataclass(frozen=True, kw_only=True, config=STRICT)
class FashionMnist:
    """Fashion-MNIST: ten kinds of clothing, 28 x 28 bytes; 60 000 train and 10 000 test records."""

    name: Literal["fashion_mnist"] = "fashion_mnist"
    standin: Standin = False


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Cifar10:
    """CIFAR-10: ten kinds of objects, 32 x 32 x 3 bytes; 50 000 train and 10 000 test records."""

    name: Literal["cifar10"] = "cifar10"
    standin: Standin = False


@dataclass(frozen=True, kw_only=True, config=STRICT)
class HierarchicalData:
    """Grouped logistic regression: 5 inputs, 3 groups whose weights depend linearly on 3 group features."""

    name: Literal["hierarchical"] = "hierarchical"
    records: Annotated[Count, Field(description="Number of train records; the test set has as many.")]
    prior_scale: Annotated[
        Positive,
        Field(description="Standard deviation of the entries of the matrix from group features to weights."),
    ] = 1.0
    seed: DataSeed = 0


@dataclass(frozen=True, kw_only=True, config=STRICT)
class FiveClusters:
    """Five Gaussian clusters in the plane with equal weights and variance 0.5."""

    name: Literal["five_clusters"] = "five_clusters"
    train_records: Annotated[Count, Field(description="Number of train records.")] = 2000
    test_records: Annotated[Count, Field(description="Number of test records.")] = 100
    seed: DataSeed = 123


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TwoModesData:
    """Scalars from an even mixture of two Gaussians of variance 2 with means 0 and 1; no test set."""

    name: Literal["two_modes"] = "two_modes"
    records: Annotated[Count, Field(description="Number of records.")] = 1_000_000
    seed: DataSeed = 123


@dataclass(frozen=True, kw_only=True, config=STRICT)
class LinearShards:
    """Linear regression on one Gaussian input and an intercept, dealt out to clients; no test set."""

    name: Literal["linear_shards"] = "linear_shards"
    clients: Annotated[Count, Field(description="Number of clients.")]
    records_per_client: Annotated[
        Count | Annotated[tuple[Count, ...], Field(min_length=1)],
        Field(description="One size for all clients, or a list with each client's size."),
    ]
    theta: Annotated[
        tuple[Finite, Finite], Field(description="True weights: of the constant 1, then of the input.")
    ]
    noise_std: Annotated[NonNegative, Field(description="Standard deviation of the noise on the response.")]
    input_shift: Annotated[
        tuple[Finite, ...],
        Field(description="Mean of each client's input; an empty list means 0 for every client."),
    ] = ()
    seed: DataSeed = 0

    @model_validator(mode="after")
    def _one_value_per_client(self) -> "LinearShards":
        sizes = self.records_per_client
        if isinstance(sizes, tuple) and len(sizes) != self.clients:
            raise ValueError(f"records_per_client lists {len(sizes)} sizes for {self.clients} clients")
        if self.input_shift and len(self.input_shift) != self.clients:
            raise ValueError(f"input_shift lists {len(self.input_shift)} means for {self.clients} clients")
        return self


@dataclass(frozen=True, kw_only=True, config=STRICT)
class AdultShards:
    """Adult (UCI) dealt out to clients in shards of equal size."""

    name: Literal["adult_shards"] = "adult_shards"
    standin: Standin = False
    clients: Annotated[Count, Field(description="Number of clients.")] = 10
    dealt: Annotated[
        Literal["alike", "by_education"],
        Field(description="In the order of the file, or sorted by years of education: clients then differ."),
    ] = "alike"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class BooleanLogistic:
    """All eight boolean 3-vectors, each many times; label 1 if at least two entries are 1."""

    name: Literal["boolean_logistic"] = "boolean_logistic"
    copies: Annotated[Count, Field(description="How often each of the eight vectors occurs.")] = 100


Data = Annotated[
    Abalone
    | Adult
    | Mnist
    | FashionMnist
    | Cifar10
    | HierarchicalData
    | FiveClusters
    | TwoModesData
    | LinearShards
    | AdultShards
    | BooleanLogistic,
    Field(discriminator="name"),
]
