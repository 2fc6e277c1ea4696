import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpinfer.errors import InputError
from pipeline.datasets import registries
from pipeline.datasets.fetch import Fetcher

GOOD, BAD = b"the right bytes", b"some other bytes"
Catalogue = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("cache")


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def put(folder: Path, content: bytes, file: str = "a") -> Path:
    path = folder / "toy" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_upstream_file_is_kept_and_its_origin_told(server: Any, cache: Path, catalogue: Catalogue) -> None:
    server.pages["/x/a"] = (GOOD, "")
    address = f"{server.address}/x"
    paths, facts = Fetcher(catalogue({"a": GOOD}, {"client": "url", "get": address}))("toy")
    assert paths == {"a": cache / "toy" / "a"}
    assert paths["a"].read_bytes() == GOOD
    sha256 = hashlib.sha256(GOOD).hexdigest()
    assert facts["files"] == {"a": {"sha256": sha256, "source": address}}
    assert facts["licence"] == "MIT"


def test_second_call_asks_nobody_and_remembers_the_source(server: Any, catalogue: Catalogue) -> None:
    server.pages["/a"] = (GOOD, "")
    path = catalogue({"a": GOOD}, {"client": "url", "get": server.address})
    first = Fetcher(path)("toy")
    assert Fetcher(path)("toy") == first
    assert server.asked == ["/a"]


def test_users_folder_comes_first(tmp_path: Path, server: Any, cache: Path, catalogue: Catalogue) -> None:
    own = put(tmp_path / "mine", GOOD)
    put(cache, GOOD)
    path = catalogue({"a": GOOD}, {"client": "url", "get": server.address})
    paths, facts = Fetcher(path, data_dir=tmp_path / "mine")("toy")
    assert paths["a"] == own
    assert facts["files"]["a"]["source"] == "data folder"
    assert server.asked == []


def test_users_folder_by_environment(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = put(tmp_path / "mine", GOOD)
    monkeypatch.setenv("DPINFER_DATA", str(tmp_path / "mine"))
    assert Fetcher(catalogue({"a": GOOD}))("toy").paths["a"] == own


def test_users_wrong_file_is_passed_over_and_left_alone(
    tmp_path: Path, cache: Path, catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    own, cached = put(tmp_path / "mine", BAD), put(cache, GOOD)
    paths, facts = Fetcher(catalogue({"a": GOOD}), data_dir=tmp_path / "mine")("toy")
    assert paths["a"] == cached
    assert facts["files"]["a"]["source"] == "cache"
    assert own.read_bytes() == BAD
    assert str(own) in caplog.text


def test_only_missing_files_are_fetched(tmp_path: Path, server: Any, catalogue: Catalogue) -> None:
    put(tmp_path / "mine", GOOD, "a")
    server.pages["/b"] = (GOOD, "")
    path = catalogue({"a": GOOD, "b": GOOD}, {"client": "url", "get": server.address})
    assert list(Fetcher(path, data_dir=tmp_path / "mine")("toy").paths) == ["a", "b"]
    assert server.asked == ["/b"]


def test_spoilt_cache_is_fetched_again(
    server: Any, cache: Path, catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    cached = put(cache, BAD)
    server.pages["/a"] = (GOOD, "")
    Fetcher(catalogue({"a": GOOD}, {"client": "url", "get": server.address}))("toy")
    assert cached.read_bytes() == GOOD
    assert "spoilt" in caplog.text


def test_spoilt_cache_is_removed_even_when_nothing_replaces_it(cache: Path, catalogue: Catalogue) -> None:
    cached = put(cache, BAD)
    with pytest.raises(InputError):
        Fetcher(catalogue({"a": GOOD}))("toy")
    assert not cached.exists()


def test_wrong_bytes_are_refused_by_name_and_sum(server: Any, cache: Path, catalogue: Catalogue) -> None:
    server.pages["/a"] = (BAD, "")
    with pytest.raises(InputError) as caught:
        Fetcher(catalogue({"a": GOOD}, {"client": "url", "get": server.address}))("toy")
    expected, found = hashlib.sha256(GOOD).hexdigest(), hashlib.sha256(BAD).hexdigest()
    assert f"{server.address}: refused a, whose sha256 should be {expected} but is {found}" in str(caught.value)
    assert left_in(cache) == []


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ((BAD, ""), "refused a"),
        ((GOOD, "truncated"), "ended after 7 of 15 bytes"),
        ((GOOD, "slow"), "timed out"),
        (None, "Not Found"),
    ],
)
def test_bad_source_gives_way_to_the_next(
    server: Any, cache: Path, catalogue: Catalogue, page: tuple[bytes, str] | None, reason: str
) -> None:
    if page:
        server.pages["/bad/a"] = page
    bad = {"client": "url", "get": f"{server.address}/bad"}
    with pytest.raises(InputError, match=reason):
        Fetcher(catalogue({"a": GOOD}, bad), timeout=0.3)("toy")
    assert left_in(cache) == []

    server.pages["/good/a.gz"] = (gzip.compress(GOOD), "")
    good = {"client": "url", "get": f"{server.address}/good", "member": "{file}.gz", "decode": "gzip"}
    found = Fetcher(catalogue({"a": GOOD}, bad, good), timeout=0.3)("toy")
    assert found.facts["files"]["a"]["source"] == f"{server.address}/good"
    assert found.paths["a"].read_bytes() == GOOD


def test_what_is_no_gzip_file_is_refused(server: Any, cache: Path, catalogue: Catalogue) -> None:
    server.pages["/a"] = (GOOD, "")
    with pytest.raises(InputError, match="a cannot be decoded"):
        Fetcher(catalogue({"a": GOOD}, {"client": "url", "get": server.address, "decode": "gzip"}))("toy")
    assert left_in(cache) == []


def test_dead_server_is_asked_once_whatever_the_number_of_files(server: Any, catalogue: Catalogue) -> None:
    with pytest.raises(InputError):
        Fetcher(catalogue({"a": GOOD, "b": GOOD}, {"client": "url", "get": server.address}))("toy")
    assert server.asked == ["/a"]


def test_archive_is_fetched_once_for_all_its_files(server: Any, catalogue: Catalogue) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for file in ("a", "b"):
            member = tarfile.TarInfo(f"inner/{file}")
            member.size = len(GOOD)
            archive.addfile(member, io.BytesIO(GOOD))
    server.pages["/all.tar.gz"] = (packed.getvalue(), "")
    source = {"client": "archive", "get": f"{server.address}/all.tar.gz", "member": "inner/{file}"}
    assert len(Fetcher(catalogue({"a": GOOD, "b": GOOD}, source))("toy").paths) == 2
    assert server.asked == ["/all.tar.gz"]


def test_package_is_fetched_once_and_kept_in_part(
    cache: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def fake(package: str, places: list[str], folder: Path, _: float) -> None:
        calls.append(package)
        (folder / places[0]).write_bytes(GOOD)
        (folder / places[1]).write_bytes(BAD)

    monkeypatch.setitem(registries.CLIENTS, "pip", fake)
    with pytest.raises(InputError) as caught:
        Fetcher(catalogue({"a": GOOD, "b": GOOD}, {"client": "pip", "get": "one"}))("toy")
    assert calls == ["one"]
    assert "no source gave b;" in str(caught.value)
    assert left_in(cache) == ["a", "a.source"]


def test_offline_leaves_out_addresses_only(
    server: Any, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPINFER_OFFLINE", "1")
    monkeypatch.setitem(registries.CLIENTS, "pip", lambda _package, _places, folder, _: put_in(folder))
    server.pages["/a"] = (GOOD, "")
    url = {"client": "url", "get": server.address}
    with pytest.raises(InputError, match="DPINFER_OFFLINE is set"):
        Fetcher(catalogue({"a": GOOD}, url))("toy")
    found = Fetcher(catalogue({"a": GOOD}, url, {"client": "pip", "get": "package==1"}))("toy")
    assert found.facts["files"]["a"]["source"] == "pip package==1"
    assert server.asked == []


def put_in(folder: Path) -> None:
    (folder / "a").write_bytes(GOOD)


def test_failure_lists_all_that_was_tried_and_where_to_put_the_file(
    tmp_path: Path, server: Any, cache: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sources = [
        {"client": "url", "get": "http://127.0.0.1:1"},
        {"client": "url", "get": server.address},
        {"client": "npm", "get": "some@1"},
        {"client": "apt", "get": "some"},
    ]
    with pytest.raises(InputError) as caught:
        Fetcher(catalogue({"a": GOOD}, *sources))("toy")
    message = str(caught.value)
    for part in (
        "http://127.0.0.1:1: [Errno",
        f"{server.address}: Not Found",
        "npm some@1: npm is not installed",
        "apt some: dpkg-deb is not installed",
        f"no source gave a; put it into {cache / 'toy'} by hand",
    ):
        assert part in message


def test_hand_placed_file_is_taken(cache: Path, catalogue: Catalogue) -> None:
    put(cache, GOOD)
    assert Fetcher(catalogue({"a": GOOD}))("toy").paths["a"] == cache / "toy" / "a"


def test_failed_write_leaves_nothing(
    server: Any, cache: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.pages["/a"] = (GOOD, "")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match=r"No space left on device.*DPINFER_CACHE"):
        Fetcher(catalogue({"a": GOOD}, {"client": "url", "get": server.address}))("toy")
    assert left_in(cache) == []


def test_unusable_cache_folder(server: Any, cache: Path, catalogue: Catalogue) -> None:
    server.pages["/a"] = (GOOD, "")
    cache.write_text("a file where the folder should be")
    with pytest.raises(InputError, match="DPINFER_CACHE"):
        Fetcher(catalogue({"a": GOOD}, {"client": "url", "get": server.address}))("toy")


def test_missing_data_folder(tmp_path: Path, catalogue: Catalogue) -> None:
    with pytest.raises(InputError, match="nowhere does not exist"):
        Fetcher(catalogue({"a": GOOD}), data_dir=tmp_path / "nowhere")


def test_unknown_data_set(catalogue: Catalogue) -> None:
    with pytest.raises(InputError, match=r"lists no data set 'tyo', only toy"):
        Fetcher(catalogue({"a": GOOD}))("tyo")
