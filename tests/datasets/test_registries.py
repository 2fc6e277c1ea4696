import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.datasets.catalogue import Source
from pipeline.datasets.registries import UnavailableError, obtain


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "into").mkdir()
    return tmp_path / "into"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offer pip one wheel, from a folder and not from any registry."""
    info = "toy-1.0.dist-info"
    with zipfile.ZipFile(tmp_path / "toy-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("toy/a", "content")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))


@pytest.mark.usefixtures("wheel")
def test_pip_unpacks_a_wheel(folder: Path) -> None:
    pytest.importorskip("pip")
    obtain(Source(client="pip", get="toy==1.0"), ["toy/a"], folder, 5)
    assert (folder / "toy" / "a").read_text() == "content"


@pytest.mark.usefixtures("wheel")
def test_pip_says_what_it_cannot_find(folder: Path) -> None:
    pytest.importorskip("pip")
    with pytest.raises(UnavailableError, match=r"No matching distribution found for toy==2\.0"):
        obtain(Source(client="pip", get="toy==2.0"), ["toy/a"], folder, 5)


def test_python_without_pip(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(UnavailableError, match="this Python has no pip"):
        obtain(Source(client="pip", get="toy==1.0"), ["toy/a"], folder, 5)


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_npm_unpacks_a_package(tmp_path: Path, folder: Path) -> None:
    pack(
        tmp_path / "toy.tgz",
        {"package/package.json": b'{"name": "toy", "version": "1.0.0"}', "package/a": b"!"},
    )
    obtain(Source(client="npm", get=f"file:{tmp_path / 'toy.tgz'}"), ["package/a"], folder, 5)
    assert (folder / "package" / "a").read_bytes() == b"!"


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not installed")
def test_apt_unpacks_without_installing(tmp_path: Path, folder: Path, command: Callable[..., None]) -> None:
    (tmp_path / "deb" / "DEBIAN").mkdir(parents=True)
    control = "Package: toy\nVersion: 1\nArchitecture: all\nMaintainer: nobody <a@b.c>\nDescription: toy\n"
    (tmp_path / "deb" / "DEBIAN" / "control").write_text(control)
    (tmp_path / "deb" / "share").mkdir()
    (tmp_path / "deb" / "share" / "a").write_text("content")
    made = tmp_path / "toy.deb"
    subprocess.run(["dpkg-deb", "--build", tmp_path / "deb", made], check=True, capture_output=True)
    command("apt-get", f'test "$*" = "download toy" && cp {made} .')
    obtain(Source(client="apt", get="toy"), ["share/a"], folder, 5)
    assert (folder / "share" / "a").read_text() == "content"


def test_client_that_fails_is_quoted(folder: Path, command: Callable[..., None]) -> None:
    command("npm", "echo 'npm warn old' >&2; echo 'npm error code E404' >&2; exit 1")
    with pytest.raises(UnavailableError, match=r"^npm error code E404$"):
        obtain(Source(client="npm", get="toy"), ["a"], folder, 5)


def test_client_that_fails_in_silence_is_named(folder: Path, command: Callable[..., None]) -> None:
    command("npm", "exit 3")
    with pytest.raises(UnavailableError, match="npm ended with status 3"):
        obtain(Source(client="npm", get="toy"), ["a"], folder, 5)


def test_client_that_leaves_nothing(folder: Path, command: Callable[..., None]) -> None:
    command("npm", "exit 0")
    with pytest.raises(UnavailableError, match="left 0 files"):
        obtain(Source(client="npm", get="toy"), ["a"], folder, 5)


def test_archive_cannot_write_outside_its_folder(tmp_path: Path, folder: Path, server: Any) -> None:
    pack(tmp_path / "evil.tar.gz", {"../evil": b"!"})
    server.pages["/evil.tar.gz"] = ((tmp_path / "evil.tar.gz").read_bytes(), "")
    with pytest.raises(UnavailableError, match="outside the destination"):
        obtain(Source(client="archive", get=f"{server.address}/evil.tar.gz"), ["a"], folder, 5)
    assert not (tmp_path / "evil").exists()


def test_archive_that_is_none(folder: Path, server: Any) -> None:
    server.pages["/x.tar.gz"] = (b"<html>please log in</html>", "")
    with pytest.raises(UnavailableError, match="file"):
        obtain(Source(client="archive", get=f"{server.address}/x.tar.gz"), ["a"], folder, 5)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Put a shell script of the given name before all other commands."""

    def write(name: str, script: str) -> None:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(path.parent), prepend=":")

    return write


def pack(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
