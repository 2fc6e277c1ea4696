import dataclasses
import json
import zipfile
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pytest
from PIL import Image

from dpinfer.errors import InputError
from pipeline.datasets import catalogue
from pipeline.datasets.catalogue import Source, UndecodableError, decode
from pipeline.settings.data import Data

CATALOGUE = Path(__file__).parents[2] / "config" / "datasets.yaml"
SUM = "ab" * 32
ENTRY = f"""toy:
  licence: MIT
  reference: nobody
  files: {{a: {SUM}}}
  sources: [{{client: pip, get: toy==1}}]
"""
Form = Literal["plain", "gzip", "abalone_table", "cifar_pictures"]
FORMS = get_args(Form)


def test_lists_exactly_the_data_sets_that_need_files() -> None:
    kinds = get_args(get_args(Data)[0])
    real = {kind.name for kind in kinds if any(f.name == "standin" for f in dataclasses.fields(kind))}
    real.remove("adult_shards")  # it is made of the files of adult
    assert set(catalogue.read(CATALOGUE)) == real
    assert len(real) == 5


@pytest.mark.parametrize("name", ["abalone", "adult", "mnist", "fashion_mnist", "cifar10"])
def test_upstream_first_then_a_package(name: str) -> None:
    clients = [source.client for source in catalogue.read(CATALOGUE)[name].sources]
    upstream = [client in ("url", "archive") for client in clients]
    assert upstream == sorted(upstream, reverse=True)
    assert True in upstream
    assert False in upstream


@pytest.mark.parametrize("client", ["pip", "npm"])
def test_packages_are_pinned(client: str) -> None:
    mark = {"pip": "==", "npm": "@"}[client]
    sources = [s for entry in catalogue.read(CATALOGUE).values() for s in entry.sources if s.client == client]
    assert sources
    assert all(mark in source.get for source in sources)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("licence: MIT", "other: MIT", "licence is missing"),
        ("get: toy==1", "get: toy==1, url: x", "url is not a known key"),
        (SUM, "beef", "files"),
        ("client: pip", "client: pipx", "pipx"),
        ("get: toy==1", "get: toy==1, member: {b: c}", "should list exactly a"),
        ("reference: nobody", "reference: 3", "reference"),
    ],
)
def test_malformed_entry_is_named(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "datasets.yaml"
    path.write_text(ENTRY)
    assert list(catalogue.read(path)) == ["toy"]
    path.write_text(ENTRY.replace(old, new))
    with pytest.raises(InputError, match=f"{path}: toy.*{complaint}"):
        catalogue.read(path)


def test_abalone_table_loses_header_and_dust(tmp_path: Path) -> None:
    header = "sex,length,diameter,height,whole_weight,shucked_weight,viscera_weight,shell_weight,rings\n"
    rows = "M,0.455,0.365,0.095,0.514,0.22449999999999998,0.10100000000000002,0.15,15\n"
    rows += "I,0.33,0.2,0.08,1,0,2,3,7\n"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", header + rows)
    source = Source(client="pip", get="p", member="a.zip", decode="abalone_table")
    assert decode(source, "abalone.data", tmp_path) == (
        b"M,0.455,0.365,0.095,0.514,0.2245,0.101,0.15,15\nI,0.33,0.2,0.08,1,0,2,3,7\n"
    )


@pytest.mark.parametrize(("stem", "labels"), [("data_batch_2", [7, 8]), ("test_batch", [3, 4])])
def test_cifar_pictures_become_label_and_planes(tmp_path: Path, stem: str, labels: list[int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, size=(2, 1024, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / f"{stem}.png")
    (tmp_path / "train_lables.json").write_text(json.dumps([5, 6, 7, 8, 9, 0]))
    (tmp_path / "test_lables.json").write_text(json.dumps([3, 4]))
    source = Source(client="npm", get="p", member="{file}.png", decode="cifar_pictures")
    records = np.frombuffer(decode(source, stem, tmp_path), dtype=np.uint8).reshape(2, 3073)
    assert records[:, 0].tolist() == labels
    assert (records[:, 1:1025] == pixels[:, :, 0]).all()
    assert (records[:, 2049:] == pixels[:, :, 2]).all()


@pytest.mark.parametrize("form", FORMS)
def test_missing_member_is_named(tmp_path: Path, form: Form) -> None:
    source = Source(client="pip", get="p", member="inner/{file}", decode=form)
    with pytest.raises(UndecodableError, match=r"a\.bin cannot be decoded"):
        decode(source, "a.bin", tmp_path)


@pytest.mark.parametrize("form", FORMS[1:])
def test_garbage_is_refused(tmp_path: Path, form: Form) -> None:
    (tmp_path / "a.bin").write_bytes(b"\x1f\x8b garbage")
    with pytest.raises(UndecodableError, match=r"a\.bin cannot be decoded"):
        decode(Source(client="pip", get="p", decode=form), "a.bin", tmp_path)
