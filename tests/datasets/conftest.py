"""A web server to misbehave on demand, catalogues made for one test, and real data where it can be had."""

import hashlib
import http.server
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from dpinfer.errors import InputError
from pipeline.datasets import load
from pipeline.datasets.base import Dataset, Fetched, Files
from pipeline.datasets.fetch import Fetcher
from pipeline.settings.data import Data

CATALOGUE = Path(__file__).parents[2] / "config" / "datasets.yaml"


class Server(http.server.ThreadingHTTPServer):
    """Answers with `pages`; a page's second value says how it goes wrong: '', 'truncated' or 'slow'."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages: dict[str, tuple[bytes, str]] = {}
        self.asked: list[str] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet: a client that has lost patience closes the line while the server still writes."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path not in self.server.pages:
            self.send_error(404)
            return
        content, trouble = self.server.pages[self.path]
        if trouble == "slow":
            time.sleep(1)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if trouble == "truncated" else content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of the test's own, and an environment without the user's settings."""
    for variable in ("DPINFER_DATA", "DPINFER_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("DPINFER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def catalogue(tmp_path: Path) -> Callable[..., Path]:
    """Write a catalogue with one data set `toy`, whose files have the contents given."""

    def write(contents: dict[str, bytes], *sources: dict[str, Any]) -> Path:
        files = {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}
        entry = {"licence": "MIT", "reference": "nobody", "files": files, "sources": list(sources)}
        path = tmp_path / "datasets.yaml"
        with path.open("w") as out:
            YAML(typ="safe").dump({"toy": entry}, out)
        return path

    return write


@pytest.fixture
def no_files() -> Files:
    """Fails the test when files are asked for."""

    def refuse(name: str) -> Fetched:
        raise AssertionError(f"the files of {name} were asked for")

    return refuse


@pytest.fixture
def real() -> Callable[[Data], Dataset]:
    """Load real data through the user's cache; skip where no source can be reached."""

    def get(settings: Data) -> Dataset:
        fetcher = Fetcher(CATALOGUE)
        try:
            fetcher(settings.name)
        except InputError as error:
            pytest.skip(str(error))
        return load(settings, fetcher)

    return get
