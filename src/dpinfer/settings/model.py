"""Settings of the models: one frozen class per module in `dpinfer.models`."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from dpinfer.settings.base import STRICT, Positive


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Logistic:
    """Bayesian logistic regression without an intercept."""

    name: Literal["logistic"] = "logistic"
    prior_std: Annotated[
        Positive, Field(description="Standard deviation of the Gaussian prior on each weight.")
    ] = 1.0


Model = Logistic
