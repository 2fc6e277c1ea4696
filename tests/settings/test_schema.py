import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from pipeline.stages.schema import schemas

ROOT = Path(__file__).parent.parent.parent
FILES = {
    "config": [ROOT / "config/config.yaml"],
    "claims": sorted(ROOT.glob("config/claims/*.yaml")),
    "doubts": [ROOT / "config/doubts.yaml"],
    "experiment": sorted(ROOT.glob("config/experiments/*/*.yaml")),
}


def stored(kind: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ROOT / f"workflow/schemas/{kind}.schema.json").read_text())
    return content


@pytest.mark.parametrize("kind", FILES)
def test_the_stored_schema_is_the_generated_one(kind: str) -> None:
    assert schemas().keys() == FILES.keys()
    assert stored(kind) == json.loads(json.dumps(schemas()[kind])), "make schemas writes them anew"


@pytest.mark.parametrize(("kind", "path"), [(kind, path) for kind, paths in FILES.items() for path in paths])
def test_every_config_file_agrees_with_its_schema_and_names_it(kind: str, path: Path) -> None:
    jsonschema.validate(YAML(typ="safe", pure=True).load(path), stored(kind))
    first = path.read_text(encoding="utf-8").splitlines()[0]
    named = path.parent / first.removeprefix("# yaml-language-server: $schema=")
    assert named.resolve() == ROOT / f"workflow/schemas/{kind}.schema.json"


@pytest.mark.parametrize(
    "change",
    [
        {"titel": "x"},
        {"base": {"clp": 1}},
        {"base": {"clip": -1}},
        {"grid": {"epsilon": []}},
        {"data": {"rows": 1}},
    ],
    ids=str,
)
def test_the_schema_rejects_what_the_plan_rejects(change: dict[str, Any]) -> None:
    content = YAML(typ="safe", pure=True).load(FILES["experiment"][0])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**content, **change}, stored("experiment"))
