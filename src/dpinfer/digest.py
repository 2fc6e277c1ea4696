"""Digest of the code behind a stage: what a rule is rerun for when it changes.

Snakemake watches rules and scripts, not the package that they call. A stage's digest is a hash over the
syntax trees, without docstrings and comments, of its entry modules and of every module of ours that they
import, directly or not. Touching a file or rewording a docstring leaves it as it is.

`dpinfer.settings` is left out: all that it decides is the value of the settings, and these are a parameter
of the rule in their own right. So a new method's settings rerun nobody else's fits.
"""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = "dpinfer"
ROOT = Path(__file__).parent
LEFT_OUT = f"{PACKAGE}.settings"


def digest(modules: Iterable[str], scripts: Iterable[Path] = ()) -> str:
    """Hash the code that the named modules and script files run, imports included.

    Args:
        modules: Dotted names of modules of ours.
        scripts: Python files outside the package, whose imports count as well.
    """
    names = set(modules)
    content = hashlib.sha256()
    for script in sorted(scripts):
        tree, imported = _parsed(script, script.stat().st_mtime_ns)
        names |= imported
        content.update(f"{script.name}\n{tree}\n".encode())
    for name in sorted(closure(frozenset(names))):
        path = _path(name)
        assert path is not None
        tree, _ = _parsed(path, path.stat().st_mtime_ns)
        content.update(f"{name}\n{tree}\n".encode())
    return content.hexdigest()[:16]


def closure(names: frozenset[str]) -> set[str]:
    """Return the named modules and all of ours that importing them runs, packages included."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        path = _path(name)
        if path is None or name in found or f"{name}.".startswith(f"{LEFT_OUT}."):
            continue
        found.add(name)
        _, imported = _parsed(path, path.stat().st_mtime_ns)
        pending += [*imported, name.rpartition(".")[0]]
    return found


@cache
def _parsed(path: Path, _modified: int) -> tuple[str, frozenset[str]]:
    """The syntax tree of a file as text, and the names of ours that it imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = frozenset(_imported(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = _without_docstring(node.body)
    return ast.dump(tree), imported


def _imported(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
            yield node.module
            # `from package import module` imports a module; for any other name the path does not exist.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_ours(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


@cache
def _path(name: str) -> Path | None:
    """The file of a module of ours; None for any other name."""
    if not _is_ours(name):
        return None
    base = ROOT.joinpath(*name.split(".")[1:])
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)
