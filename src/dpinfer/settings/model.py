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


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Mixture:
    """Mixture of spherical Gaussians with even Dirichlet weights and standard normal means."""

    name: Literal["mixture"] = "mixture"
    components: Annotated[int, Field(ge=2, description="Number of components.")] = 5
    prior_on: Annotated[
        Literal["deviation", "variance"],
        Field(description="Whether the inverse gamma prior is on a component's standard deviation or variance."),
    ] = "deviation"
    shape: Annotated[Positive, Field(description="Shape of the inverse gamma prior.")] = 1.0
    rate: Annotated[Positive, Field(description="Scale of the inverse gamma prior, the rate of 1/s.")] = 1.0


Model = Annotated[Logistic | Hierarchical | Mixture, Field(discriminator="name")]
