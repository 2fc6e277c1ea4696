import json
import math
from pathlib import Path

import pytest

from dpinfer.atomic import from_json, read_json, replacing, to_json, write_json


def test_content_appears_only_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.txt"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
        assert temporary.suffix == ".txt"
    assert path.read_text() == "new"


def test_an_error_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    failing = replacing(path)
    failing.__enter__().write_text("half")
    assert not failing.__exit__(RuntimeError, RuntimeError(), None)
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "old"


def test_infinity_survives_as_valid_json(tmp_path: Path) -> None:
    content = {"epsilon": math.inf, "list": [1.5, math.inf], "text": "informal"}
    write_json(tmp_path / "a.json", content)
    assert read_json(tmp_path / "a.json") == content
    assert json.loads((tmp_path / "a.json").read_text())["epsilon"] == "inf"
    assert from_json(to_json(content)) == content


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_what_is_no_result_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"epsilon": value})
