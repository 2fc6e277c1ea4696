"""All methods that a cell can run; `method` tells them apart."""

from typing import Annotated

from pydantic import Field

from pipeline.settings.cell import Descent, Dpsgd, Dpvi, Gan
from pipeline.settings.chain import FullBatchBarker, Langevin, MinibatchBarker, Sgld
from pipeline.settings.pvi import PviClients, PviRecords

Method = Annotated[
    Descent | Dpvi | Dpsgd | Gan | Sgld | MinibatchBarker | FullBatchBarker | Langevin | PviRecords | PviClients,
    Field(discriminator="method"),
]
