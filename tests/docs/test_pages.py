"""The pages of the documentation: links lead somewhere, what code writes is up to date, and all of it builds."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from docs_commands import BLOCK, DOCUMENTS, ROOT
from pipeline.settings.claim import GENERAL, Claims, Doubts
from pipeline.settings.yaml import parse, read
from pipeline.stages.pages import pages

DOUBTS: Doubts = parse(Doubts, read(ROOT / "config/doubts.yaml"), "doubts")
NUMBERS = {GENERAL: 5, "d3p": 8, "dpmcmc": 9, "pyvacy": 7, "dpvi": 8, "dppvi": 8}


def anchors(path: Path) -> set[str]:
    """What the headings of a page are linked by, on a code host and in HTML."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = BLOCK.sub("", path.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("name", ["soundness.md", "reference.md"])
def test_a_page_made_from_code_is_up_to_date(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == pages(ROOT / "config")[name], "make docs"


def test_the_reference_documents_all_that_it_names() -> None:
    text = pages(ROOT / "config")["reference.md"]
    assert "#### `DPSVI(model, guide, optim, loss, clipping_threshold, dp_scale, *, " in text
    assert not re.search(r"^####.*\n\n+(?=#)", text, re.MULTILINE), "an entry is without a docstring"


def test_every_page_is_in_the_table_of_contents() -> None:
    named = {entry for part in read(ROOT / "mkdocs.yml")["nav"] for entry in part.values()}
    assert all((ROOT / "docs" / name).is_file() for name in named)
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert all(f"]({name})" in index for name in named - {"index.md"})


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not installed")
def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True))
    home = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|rel="stylesheet" href)="(https?:)?//', home), "the pages need the network"


def test_doubts_are_numbered_and_name_what_exists() -> None:
    ids = [doubt.id for doubt in DOUBTS.doubts]
    assert ids == [f"{paper}-{number}" for paper, most in NUMBERS.items() for number in range(1, most + 1)]
    claims = {
        claim.id for path in ROOT.glob("config/claims/*.yaml") for claim in parse(Claims, read(path), path).claims
    }
    figures = {path.stem for path in ROOT.glob("workflow/figures/*/*.py")}
    for doubt in DOUBTS.doubts:
        assert set(doubt.claims) <= claims, doubt.id
        assert set(doubt.figures) <= figures, doubt.id


def test_our_words_of_the_notation_are_in_use() -> None:
    table = (ROOT / "docs/notation.md").read_text(encoding="utf-8")
    firsts = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    words = {word for first in firsts for word in re.findall(r"`(\w+)`", first)}
    used = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("src/**/*.py"))
    assert len(words) > 15
    assert not {word for word in words if not re.search(rf"\b{word}\b", used)}
