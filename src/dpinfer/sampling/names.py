"""The names of samplers; importing them imports nothing else."""

from typing import Literal

SamplerName = Literal["poisson", "subset", "choice", "replacement"]
ShardSamplerName = Literal["poisson", "subset"]
"""Those of batches of a client's records among many."""
