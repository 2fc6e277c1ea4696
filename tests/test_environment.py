"""pyproject.toml, requirements.lock and environment.yml must tell the same story."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

ROOT = Path(__file__).parent.parent
PIN = re.compile(r"^([a-z0-9][^ =;]*)==([^\s;\\]+)", re.MULTILINE)


def lock_text() -> str:
    return (ROOT / "requirements.lock").read_text(encoding="utf-8")


def locked() -> dict[str, str]:
    return dict(PIN.findall(lock_text()))


def declared() -> list[Requirement]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [Requirement(line) for line in (*project["dependencies"], *extras["dev"], *extras["cluster"])]


def environment() -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(ROOT / "environment.yml")
    return content


@pytest.mark.parametrize("requirement", declared(), ids=str)
def test_the_lock_pins_every_requirement_within_its_range(requirement: Requirement) -> None:
    assert requirement.specifier.contains(locked()[canonicalize_name(requirement.name)])


def test_the_environment_lists_exactly_the_lock() -> None:
    pips = next(entry["pip"] for entry in environment()["dependencies"] if isinstance(entry, dict))
    assert dict(PIN.findall("\n".join(pips))) == locked()


def test_every_pin_has_a_hash_and_no_line_an_address() -> None:
    blocks = re.split(r"\n(?=[a-z0-9])", lock_text().strip())
    assert len(blocks) == len(locked())
    assert all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"://|^--(extra-)?index|find-links", lock_text(), re.MULTILINE)


def test_the_environment_takes_the_same_pythons_as_the_package() -> None:
    python = next(entry for entry in environment()["dependencies"] if str(entry).startswith("python"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert python.removeprefix("python").startswith(project["requires-python"])


def test_the_interpreter_runs_the_locked_versions() -> None:
    from importlib.metadata import version

    wrong = {
        req.name: version(req.name)
        for req in declared()
        if version(req.name) != locked()[canonicalize_name(req.name)]
    }
    assert not wrong
