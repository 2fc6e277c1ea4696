"""Settings of the study that audits mechanisms."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from dpinfer.audit.names import CONFIDENCE, MOST_OF_USERS, TRIALS, Mechanism
from pipeline.settings.base import STRICT, Probability, Seed


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
