"""Settings of the model of two tied Gaussians."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from pipeline.settings.base import STRICT, Positive

Pair = tuple[float, float]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class TwoModes:
    """Scalars from an even mixture of N(a, v) and N(a + b, v), of which a and b are learnt."""

    name: Literal["two_modes"] = "two_modes"
    prior_variances: Annotated[
        tuple[Positive, Positive], Field(description="Variances of the normal priors on a and b, of mean 0.")
    ] = (10.0, 1.0)
    variance: Annotated[Positive, Field(description="Variance v of both Gaussians.")] = 2.0
    start: Annotated[
        Pair | None, Field(description="Where algorithms start; by default at a standard normal draw.")
    ] = None
