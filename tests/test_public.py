"""The names that `import dpinfer` offers."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import assert_type

import pytest

import dpinfer
from dpinfer.accounting.ledger import Ledger


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, dpinfer; dir(dpinfer); print(sorted({'jax', 'numpy', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", dpinfer.__all__)
def test_every_public_name_resolves(name: str) -> None:
    found = getattr(dpinfer, name)
    assert getattr(found, "__name__", name) == name


def test_nothing_else_is_shown() -> None:
    assert dir(dpinfer) == sorted(dpinfer.__all__)
    with pytest.raises(AttributeError, match="no attribute 'dpsvi'"):
        dpinfer.dpsvi  # noqa: B018


def test_type_checkers_see_every_name_where_it_is_loaded_from() -> None:
    assert_type(dpinfer.Ledger("add-remove", 1e-5), Ledger)
    tree = ast.parse(Path(dpinfer.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    told = {alias.name: node.module for node in imports for alias in node.names}
    assert {name: told[name] for name in dpinfer._MODULES} == dpinfer._MODULES
    assert {*dpinfer._MODULES, "__version__"} == set(dpinfer.__all__)
