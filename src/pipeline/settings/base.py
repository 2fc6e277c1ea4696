"""What every settings class shares: strict types, no unknown key, and field types with their bounds."""

from typing import Annotated

from pydantic import ConfigDict, Field

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=True)

Count = Annotated[int, Field(gt=0)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PositiveOrInf = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, le=1)]
Probability = Annotated[float, Field(gt=0, lt=1)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
