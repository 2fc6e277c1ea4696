"""Settings of the study that audits mechanisms."""

from typing import Annotated, Literal, get_args

from pydantic import Field
from pydantic.dataclasses import dataclass

from dpinfer.settings.base import STRICT, Probability, Seed

Mechanism = Literal[
    "dpsgd", "dpsgd_steps", "dpsgd_subset", "dpsgd_subset_steps",
    "dpvi", "dpvi_steps", "dpvi_subset", "dpvi_subset_steps",
    "barker", "pvi_records", "pvi_clients", "pvi_shared", "pvi_server",
    "quantile", "percentile", "mean_printed", "mean_code",
]  # fmt: skip
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)
RUN = (
    "inference.barker", "inference.dpsgd", "inference.dpvi", "inference.pvi_clients", "inference.pvi_records",
    "models.linear",
)  # fmt: skip
"""The modules that the study chooses by name."""

TRIALS = 100_000
CONFIDENCE = 0.999


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Audit:
    """A lower bound on the epsilon of a mechanism, from many runs on two neighbouring data sets."""

    study: Literal["audit"] = "audit"
    mechanism: Annotated[Mechanism, Field(description="What is audited; `dpinfer audit` lists them.")]
    trials: Annotated[int, Field(ge=20, description="Runs on each of the two data sets.")] = TRIALS
    confidence: Annotated[Probability, Field(description="Probability with which the bound holds.")] = CONFIDENCE
    seed: Annotated[Seed, Field(description="Seed that all runs follow from.")] = 0
