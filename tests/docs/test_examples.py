"""The examples of the documentation run."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("document", ["docs/numpyro.md"])
def test_an_example_runs(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / document).read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        # Fewer steps show as well that everything is called as it should be.
        exec(re.sub(r"\d000, x, y\)", "20, x, y)", block), names)
    assert names["result"].losses.shape == (20,)
    assert 0 < names["budget"].spent < 0.5
