"""The stamp beside an artifact."""

import hashlib
import json
from pathlib import Path

from pipeline.provenance import Stamp

ROOT = Path(__file__).parent.parent


def test_a_stamp_tells_environment_and_modules(tmp_path: Path) -> None:
    Stamp("abc").write(tmp_path / "stamp.json", experiment="this")
    content = json.loads((tmp_path / "stamp.json").read_text(encoding="utf-8"))
    assert content["experiment"] == "this"
    stamp = content["stamp"]
    assert stamp["code"] == "abc"
    assert stamp["lock"] == hashlib.sha256((ROOT / "requirements.lock").read_bytes()).hexdigest()[:16]
    assert {"pipeline.provenance", "dpinfer.atomic"} <= set(stamp["modules"])
    assert {"jax", "numpyro", "fourier-accountant"} <= stamp["packages"].keys()
