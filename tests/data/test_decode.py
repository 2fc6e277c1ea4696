import json
import zipfile
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pytest
from PIL import Image

from dpinfer.data.catalog import Source
from dpinfer.data.decode import UndecodableError, decode

Form = Literal["plain", "gzip", "abalone_table", "cifar_pictures"]
FORMS = get_args(Form)


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
