from collections.abc import Iterator
from pathlib import Path

import pytest

from dpinfer import digest as digesting
from dpinfer.digest import closure, digest


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small package in the place of ours: entry -> middle -> leaf, aside unused, settings left out."""
    files = {
        "__init__.py": "",
        "entry.py": '"""Doc."""\nfrom dpinfer.middle import act\nfrom dpinfer.settings.cell import Cell\n',
        "middle.py": "def act():\n    '''Doc.'''\n    from dpinfer.parts import leaf\n    leaf.VALUE\n",
        "parts/__init__.py": "",
        "parts/leaf.py": "VALUE = 1  # why\n",
        "aside.py": "VALUE = 2\n",
        "settings/__init__.py": "",
        "settings/cell.py": "class Cell: ...\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(digesting, "ROOT", tmp_path)
    digesting._path.cache_clear()
    yield tmp_path
    digesting._path.cache_clear()


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.usefixtures("package")
def test_closure_follows_nested_imports_and_packages_but_not_settings() -> None:
    found = closure(frozenset({"dpinfer.entry"}))
    assert found == {"dpinfer", "dpinfer.entry", "dpinfer.middle", "dpinfer.parts", "dpinfer.parts.leaf"}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("entry.py", "Doc.", "Another."),
        ("middle.py", "Doc.", "Another."),
        ("parts/leaf.py", "# why", "# because"),
        ("parts/leaf.py", "VALUE = 1", "VALUE   =   1"),
        ("aside.py", "2", "3"),
        ("settings/cell.py", "Cell", "Box"),
    ],
)
def test_what_cannot_change_a_result_keeps_the_digest(package: Path, file: str, old: str, new: str) -> None:
    before = digest(["dpinfer.entry"])
    rewrite(package / file, old, new)
    assert digest(["dpinfer.entry"]) == before


@pytest.mark.parametrize(("file", "old", "new"), [("parts/leaf.py", "1", "5"), ("middle.py", "leaf.VALUE", "0")])
def test_code_far_down_changes_the_digest(package: Path, file: str, old: str, new: str) -> None:
    before = digest(["dpinfer.entry"])
    rewrite(package / file, old, new)
    assert digest(["dpinfer.entry"]) != before


def test_a_script_counts_with_its_imports(package: Path, tmp_path: Path) -> None:
    script = tmp_path / "draw.py"
    script.write_text("from dpinfer.parts.leaf import VALUE\n")
    before = digest(["dpinfer.aside"], [script])
    rewrite(package / "parts/leaf.py", "1", "5")
    between = digest(["dpinfer.aside"], [script])
    script.write_text("from dpinfer.parts.leaf import VALUE\nprint(VALUE)\n")
    assert len({before, between, digest(["dpinfer.aside"], [script])}) == 3
