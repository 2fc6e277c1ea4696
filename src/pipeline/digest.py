"""Digest of the code behind a stage: what a rule is rerun for when it changes.

Snakemake watches rules and scripts, not the package that they call. A stage's digest is a hash over the
syntax trees, without docstrings and comments, of its entry modules and of every module of ours that they
import, directly or not. Touching a file or rewording a docstring leaves it as it is.

`pipeline.settings` is left out: all that it decides is the value of the settings, and these are a parameter
of the rule in their own right. So is `pipeline.registry`: all that it decides is which modules are run, and the
plan names these as entry modules. So a new method reruns nobody else's fits. What these two import of the library,
the names of variants and plain defaults, counts where code imports it as well.
"""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGES = ("dpinfer", "pipeline")
ROOT = Path(__file__).parents[1]
LEFT_OUT = ("pipeline.settings.", "pipeline.registry.")


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
        path = path_of(name)
        assert path is not None
        tree, _ = _parsed(path, path.stat().st_mtime_ns)
        content.update(f"{name}\n{tree}\n".encode())
    return content.hexdigest()[:16]


def closure(names: frozenset[str]) -> set[str]:
    """Return the named modules and all of ours that importing them runs, packages included."""
    return _reached(names, LEFT_OUT)


def by_value() -> set[str]:
    """Return the modules that settings and registry are, and those that are imported for their sake.

    Every stage loads them. All that they decide is the value of settings, and which modules are run.
    """
    settings = [f"pipeline.settings.{path.stem}" for path in (ROOT / "pipeline/settings").glob("[!_]*.py")]
    return _reached(frozenset({"pipeline.registry", *settings}), ())


def _reached(names: frozenset[str], left_out: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        path = path_of(name)
        if path is None or name in found or f"{name}.".startswith(left_out):
            continue
        found.add(name)
        _, imported = _parsed(path, path.stat().st_mtime_ns)
        pending += [*imported, name.rpartition(".")[0]]
    return found


@cache
def _parsed(path: Path, _modified: int) -> tuple[str, frozenset[str]]:
    """A hash of the syntax tree of a file, and the names of ours that it imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = set[str]()
    for node in [tree, *_statements(tree)]:
        imported.update(_imported(node))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = _without_docstring(node.body)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), frozenset(imported)


def _imported(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if _is_ours(alias.name))
    elif isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
        yield node.module
        # `from package import module` imports a module; for any other name the path does not exist.
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _statements(node: ast.AST) -> Iterable[ast.AST]:
    """All statements below a node, without what is there for type checkers and never runs."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, block, None)
        for child in inner if isinstance(inner, list) else ():
            match child:
                case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=others):
                    for other in others:
                        yield other
                        yield from _statements(other)
                case _:
                    yield child
                    yield from _statements(child)


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in PACKAGES


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


@cache
def path_of(name: str) -> Path | None:
    """The file of a module of ours; None for any other name."""
    if not _is_ours(name):
        return None
    base = ROOT.joinpath(*name.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)
