import json
import sys
from subprocess import run
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from pipeline.settings.data import Data, FiveClusters, LinearShards, Mnist, TwoModesData

ADAPTER: TypeAdapter[Data] = TypeAdapter(Data)
SHARDS = {"name": "linear_shards", "clients": 2, "records_per_client": 5, "theta": [-1, 2], "noise_std": 1}


def parse(raw: dict[str, Any]) -> Data:
    return ADAPTER.validate_json(json.dumps(raw))


def test_name_chooses_the_class() -> None:
    assert parse({"name": "mnist", "standin": True}) == Mnist(standin=True)
    assert parse({"name": "two_modes", "records": 10}) == TwoModesData(records=10)


def test_defaults_are_the_papers() -> None:
    assert parse({"name": "two_modes"}) == TwoModesData(records=1_000_000, seed=123)
    assert parse({"name": "five_clusters"}) == FiveClusters(train_records=2000, test_records=100, seed=123)


@pytest.mark.parametrize(
    "change",
    [
        {"records_per_client": [3, 4]},
        {"records_per_client": 7},
        {"input_shift": [-1, 1.5]},
        {"noise_std": 0},
    ],
)
def test_shards_may_be_unlike(change: dict[str, Any]) -> None:
    settings = parse(SHARDS | change)
    assert isinstance(settings, LinearShards)
    assert settings.clients == 2


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ({"name": "minst"}, "minst"),
        ({"name": "mnist", "stand_in": True}, "stand_in"),
        ({"name": "mnist", "standin": "yes"}, "standin"),
        ({"name": "adult", "encoding": "binary"}, "encoding"),
        ({"name": "hierarchical"}, "records"),
        ({"name": "hierarchical", "records": 0}, "records"),
        ({"name": "hierarchical", "records": 5, "prior_scale": -1}, "prior_scale"),
        ({"name": "two_modes", "records": 2.5}, "records"),
        ({"name": "five_clusters", "seed": -1}, "seed"),
        ({"name": "five_clusters", "seed": 2**32}, "seed"),
        (SHARDS | {"theta": [1, 2, 3]}, "theta"),
        (SHARDS | {"noise_std": -1}, "noise_std"),
        (SHARDS | {"records_per_client": [1, 2, 3]}, "lists 3 sizes for 2 clients"),
        (SHARDS | {"records_per_client": []}, "records_per_client"),
        (SHARDS | {"input_shift": [1]}, "lists 1 means for 2 clients"),
    ],
)
def test_wrong_settings_are_refused(raw: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        parse(raw)


@pytest.mark.parametrize("kind", get_args(get_args(Data)[0]), ids=lambda kind: kind.name)
def test_schema_explains_every_field(kind: type) -> None:
    schema = TypeAdapter(kind).json_schema()
    assert schema["description"]
    for name, field in schema["properties"].items():
        assert name == "name" or field["description"], name


def test_import_is_light() -> None:
    heavy = "{'numpy', 'jax', 'pandas'} & set(sys.modules)"
    code = f"import sys, pipeline.settings.data; sys.exit(str({heavy}) if {heavy} else 0)"
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
