"""Settings of a whole run: `config/config.yaml` and what `--config` changes of it."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from pipeline.settings.base import STRICT, Count, Seed

Scale = Literal["smoke", "laptop", "paper"]
Device = Literal["auto", "cpu", "gpu"]

DEFAULT_SCALE: Scale = "laptop"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Project:
    """What is run, how large, on what, and where its results go."""

    scale: Annotated[
        Scale,
        Field(description="smoke: minutes for everything; laptop: two CPU cores; paper: the papers' own size."),
    ] = DEFAULT_SCALE
    seed: Annotated[
        Seed,
        Field(description="Every random number of every fit follows from it."),
    ] = 0
    experiments: Annotated[
        Literal["all"] | tuple[str, ...],
        Field(description="all, or a list of experiments by name (the name of the file without .yaml)."),
    ] = "all"
    data_dir: Annotated[
        str | None,
        Field(description="Folder with data files of your own copy; looked into before anything is fetched."),
    ] = None
    results_dir: Annotated[
        str | None,
        Field(description="Where results go; by default results, or results/<scale> if not laptop."),
    ] = None
    shards: Annotated[
        Count,
        Field(description="How many jobs the cells of an experiment are cut into; 1 is best on one machine."),
    ] = 1
    device: Annotated[Device, Field(description="What JAX computes on; auto takes a GPU where there is one.")] = (
        "auto"
    )

    @property
    def results(self) -> str:
        """The results folder; scales keep apart, so that a smoke run never overwrites a longer one."""
        default = "results" if self.scale == DEFAULT_SCALE else f"results/{self.scale}"
        return self.results_dir or default
