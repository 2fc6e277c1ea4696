"""Settings of the correction V_cor: what makes a normal variable logistic (DP-MCMC, Eq. 8)."""

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from dpinfer.inference.names import LOGISTIC_VARIANCE, Fitting
from pipeline.settings.base import STRICT, Count, NonNegative, Positive


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Correction(Fitting):
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
