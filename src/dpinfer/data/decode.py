"""From the form in which a source keeps a file to the file's own bytes."""

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from dpinfer.data.catalog import Source


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
