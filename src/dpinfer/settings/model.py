"""Settings of the models: one frozen class per module in `dpinfer.models`."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from dpinfer.settings.base import STRICT, Count, Positive


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Logistic:
    """Bayesian logistic regression without an intercept."""

    name: Literal["logistic"] = "logistic"
    prior_std: Annotated[
        Positive, Field(description="Standard deviation of the Gaussian prior on each weight.")
    ] = 1.0


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Hierarchical:
    """Logistic regression whose weights vary by group around a linear function of the group's features."""

    name: Literal["hierarchical"] = "hierarchical"
    prior_std: Annotated[
        Positive, Field(description="Standard deviation of the Gaussian prior on each effect.")
    ] = 4.0
    features: Annotated[Count, Field(description="Number of features of a record.")] = 5


Model = Annotated[Logistic | Hierarchical, Field(discriminator="name")]
