"""All methods that a cell can run; `method` tells them apart."""

from typing import Annotated

from pydantic import Field

from dpinfer.settings.cell import Descent, Dpsgd, Dpvi
from dpinfer.settings.pvi import PviClients, PviRecords

Method = Annotated[Descent | Dpvi | Dpsgd | PviRecords | PviClients, Field(discriminator="method")]
