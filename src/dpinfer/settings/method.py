"""All methods that a cell can run; `method` tells them apart."""

from typing import Annotated

from pydantic import Field

from dpinfer.settings.cell import Descent, Dpsgd, Dpvi, Gan
from dpinfer.settings.chain import Barker, FullBarker, Langevin
from dpinfer.settings.pvi import PviClients, PviRecords
from dpinfer.settings.sgld import Sgld

Method = Annotated[
    Descent | Dpvi | Dpsgd | Gan | Sgld | Barker | FullBarker | Langevin | PviRecords | PviClients,
    Field(discriminator="method"),
]
