"""Settings of probit regression."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from pipeline.settings.base import STRICT, Positive


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Probit:
    """Probit regression with a Gaussian prior on the weights."""

    name: Literal["probit"] = "probit"
    prior_std: Annotated[Positive, Field(description="Standard deviation of the prior on each weight.")] = 1.0
