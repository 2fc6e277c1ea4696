from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import digest as digesting
from pipeline.digest import closure, digest


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package in the place of ours: entry -> middle -> leaf, aside unused, settings and registry left out."""
    files = {
        "__init__.py": "",
        "entry.py": '"""Doc."""\nfrom pipeline.middle import act\nfrom pipeline.settings.cell import Cell\n'
        "from pipeline.registry import TABLE\n",
        "middle.py": "def act():\n    '''Doc.'''\n    from pipeline.parts import leaf\n    leaf.VALUE\n",
        "parts/__init__.py": "",
        "parts/leaf.py": "from pipeline import registry\nVALUE = 1  # why\n",
        "aside.py": "VALUE = 2\n",
        "registry.py": "TABLE = 3\n",
        "settings/__init__.py": "",
        "settings/cell.py": "class Cell: ...\n",
    }
    folder = tmp_path / "pipeline"
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(digesting, "ROOT", tmp_path)
    digesting.path_of.cache_clear()
    yield folder
    digesting.path_of.cache_clear()


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.usefixtures("package")
def test_closure_follows_nested_imports_and_packages_but_not_settings_or_registry() -> None:
    found = closure(frozenset({"pipeline.entry"}))
    assert found == {"pipeline", "pipeline.entry", "pipeline.middle", "pipeline.parts", "pipeline.parts.leaf"}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("entry.py", "Doc.", "Another."),
        ("middle.py", "Doc.", "Another."),
        ("parts/leaf.py", "# why", "# because"),
        ("parts/leaf.py", "VALUE = 1", "VALUE   =   1"),
        ("aside.py", "2", "3"),
        ("settings/cell.py", "Cell", "Box"),
        ("registry.py", "3", "4"),
    ],
)
def test_what_cannot_change_a_result_keeps_the_digest(package: Path, file: str, old: str, new: str) -> None:
    before = digest(["pipeline.entry"])
    rewrite(package / file, old, new)
    assert digest(["pipeline.entry"]) == before


@pytest.mark.parametrize(("file", "old", "new"), [("parts/leaf.py", "1", "5"), ("middle.py", "leaf.VALUE", "0")])
def test_code_far_down_changes_the_digest(package: Path, file: str, old: str, new: str) -> None:
    before = digest(["pipeline.entry"])
    rewrite(package / file, old, new)
    assert digest(["pipeline.entry"]) != before


def test_a_script_counts_with_its_imports(package: Path, tmp_path: Path) -> None:
    script = tmp_path / "draw.py"
    script.write_text("from pipeline.parts.leaf import VALUE\n")
    before = digest(["pipeline.aside"], [script])
    rewrite(package / "parts/leaf.py", "1", "5")
    between = digest(["pipeline.aside"], [script])
    script.write_text("from pipeline.parts.leaf import VALUE\nprint(VALUE)\n")
    assert len({before, between, digest(["pipeline.aside"], [script])}) == 3


def test_what_only_type_checkers_import_is_not_followed(package: Path) -> None:
    rewrite(package / "aside.py", "VALUE = 2", "if TYPE_CHECKING:\n    from pipeline import entry\nVALUE = 2")
    assert closure(frozenset({"pipeline.aside"})) == {"pipeline", "pipeline.aside"}
    rewrite(package / "aside.py", "\nVALUE", "\nelse:\n    from pipeline.parts import leaf\nVALUE")
    assert closure(frozenset({"pipeline.aside"})) > {"pipeline.parts.leaf"}
