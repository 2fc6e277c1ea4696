"""Fetching the files of real data sets, each checked against its sha256 before anything reads it."""

import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dpinfer import machine
from dpinfer.atomic import replacing
from dpinfer.errors import InputError
from pipeline.datasets import catalogue
from pipeline.datasets.base import Fetched
from pipeline.datasets.catalogue import CatalogueEntry, Source, UndecodableError, decode
from pipeline.datasets.registries import UnavailableError, obtain

DATA_VARIABLE, OFFLINE_VARIABLE = "DPINFER_DATA", "DPINFER_OFFLINE"

log = logging.getLogger(__name__)


class Found(NamedTuple):
    """A verified file and the name of the source that gave it."""

    path: Path
    source: str


class Fetcher:
    """Finds the files of a data set: `Fetcher(...)("mnist")` gives all of them, or says why it cannot.

    Looked through in this order: the user's folder (`<folder>/<data set>/<file>`), the cache, then the
    catalogue's sources in their order. Environment variables: `DPINFER_DATA` names the user's folder where no
    `data_dir` is given; `DPINFER_CACHE` replaces the user's cache folder; `DPINFER_OFFLINE=1` leaves out the
    upstream addresses (package mirrors are still asked).

    Guarantee: every path given out held the bytes of the catalogue's sha256 when it was given out; bytes with
    another sum are never put under a final name.
    """

    def __init__(self, catalogue_path: Path, data_dir: Path | None = None, timeout: float = 5.0):
        """Read the catalogue and the environment.

        Args:
            catalogue_path: the YAML file that lists data sets, sums and sources.
            data_dir: the user's own folder of data files.
            timeout: seconds a server may take to answer or to go on.

        Raises:
            InputError: the catalogue is malformed, or the user's folder does not exist.
        """
        self.catalogue_path = catalogue_path
        self.entries = catalogue.read(catalogue_path)
        self.timeout = timeout
        named = os.environ.get(DATA_VARIABLE)
        self.data_dir = data_dir or (Path(named).expanduser() if named else None)
        if self.data_dir is not None and not self.data_dir.is_dir():
            raise InputError(f"the data folder {self.data_dir} does not exist or is no folder")
        self.cache_dir = machine.cache_dir()
        self.offline = os.environ.get(OFFLINE_VARIABLE, "") not in ("", "0")

    def __call__(self, name: str) -> Fetched:
        """Give the verified files of the data set `name`, fetching what is not there.

        Raises:
            InputError: a file could not be had; the message lists all that was tried.
        """
        if name not in self.entries:
            raise InputError(f"{self.catalogue_path} lists no data set {name!r}, only {', '.join(self.entries)}")
        entry = self.entries[name]
        tried: list[str] = []
        found = self._on_disk(name, entry, tried)
        for source in entry.sources:
            missing = [file for file in entry.files if file not in found]
            if missing:
                found |= self._from(source, name, missing, tried)
        missing = [file for file in entry.files if file not in found]
        if missing:
            raise InputError(self._failure(name, missing, tried))
        origins = {file: {"sha256": sha256, "source": found[file].source} for file, sha256 in entry.files.items()}
        return Fetched(
            paths={file: found[file].path for file in entry.files},
            facts={"files": origins, "licence": entry.licence, "reference": entry.reference},
        )

    def _on_disk(self, name: str, entry: CatalogueEntry, tried: list[str]) -> dict[str, Found]:
        found = {}
        for file, sha256 in entry.files.items():
            own = self.data_dir / name / file if self.data_dir else None
            cached = self.cache_dir / name / file
            if own and own.is_file() and _right(own.read_bytes(), file, sha256, str(own), tried):
                found[file] = Found(own, "data folder")
            elif cached.is_file():
                if _right(cached.read_bytes(), file, sha256, str(cached), tried):
                    note = _note(cached)
                    found[file] = Found(cached, note.read_text() if note.is_file() else "cache")
                else:
                    log.warning("%s is spoilt: it is removed and fetched again", cached)
                    with _writing(cached):
                        cached.unlink(missing_ok=True)
        return found

    def _from(self, source: Source, name: str, missing: list[str], tried: list[str]) -> dict[str, Found]:
        """Get what the source can give of the missing files into the cache."""
        if self.offline and source.client in ("url", "archive"):
            tried.append(f"{source}: left out because {OFFLINE_VARIABLE} is set")
            return {}
        log.info("%s: asking %s for %s", name, source, ", ".join(missing))
        # A package or archive is fetched once for all its files. Of single addresses the first that fails
        # ends the attempt: a server that cannot be reached should cost one time limit, not one per file.
        groups = [[file] for file in missing] if source.client == "url" else [missing]
        found = {}
        with tempfile.TemporaryDirectory(prefix="dpinfer-") as temporary:
            for group in groups:
                try:
                    obtain(source, group, Path(temporary), self.timeout)
                except UnavailableError as error:
                    tried.append(f"{source}: {error}")
                    break
                for file in group:
                    if content := self._decoded(source, name, file, Path(temporary), tried):
                        found[file] = Found(self._keep(name, file, content, source), str(source))
        return found

    def _decoded(self, source: Source, name: str, file: str, folder: Path, tried: list[str]) -> bytes | None:
        """The file's bytes if the source gave the right ones."""
        try:
            content = decode(source, file, folder)
        except UndecodableError as error:
            tried.append(f"{source}: {error}")
            return None
        return content if _right(content, file, self.entries[name].files[file], str(source), tried) else None

    def _keep(self, name: str, file: str, content: bytes, source: Source) -> Path:
        path = self.cache_dir / name / file
        with _writing(path):
            for target, data in ((_note(path), str(source).encode()), (path, content)):
                with replacing(target) as temporary:
                    temporary.write_bytes(data)
        log.info("%s: %s came from %s", name, file, source)
        return path

    def _failure(self, name: str, missing: list[str], tried: list[str]) -> str:
        folder = (self.data_dir or self.cache_dir) / name
        pronoun = "it" if len(missing) == 1 else "them"
        return (
            f"data set {name}: no source gave {', '.join(missing)}; put {pronoun} into {folder} by hand; "
            f"tried: {'; '.join(tried) or 'nothing, because no source is listed'}"
        )


def _right(content: bytes, file: str, sha256: str, source: str, tried: list[str]) -> bool:
    """Tell whether the bytes have the sum; if not, say so in the log and in `tried`."""
    actual = hashlib.sha256(content).hexdigest()
    if actual != sha256:
        tried.append(f"{source}: refused {file}, whose sha256 should be {sha256} but is {actual}")
        log.warning(tried[-1])
    return actual == sha256


def _note(path: Path) -> Path:
    """Where the cache remembers which source gave a file."""
    return path.with_name(f"{path.name}.source")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}): set {machine.CACHE} to a folder of yours"
        ) from error
