"""All methods that a cell can run; `method` tells them apart."""

from typing import Annotated

from pydantic import Field

from pipeline.settings.cell import Descent, Dpsgd, Dpvi, Gan
from pipeline.settings.chain import Barker, FullBarker, Langevin, Sgld
from pipeline.settings.pvi import PviClients, PviRecords

Method = Annotated[
    Descent | Dpvi | Dpsgd | Gan | Sgld | Barker | FullBarker | Langevin | PviRecords | PviClients,
    Field(discriminator="method"),
]
