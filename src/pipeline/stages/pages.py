"""Write the pages of the documentation that are made from code and config: doubts and reference."""

import argparse
import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dpinfer.atomic import replacing
from pipeline.report import webpage
from pipeline.settings.claim import Claims, Doubts
from pipeline.settings.yaml import parse, read

SOURCE = Path(__file__).parents[2] / "dpinfer"
PARTS = {
    "Your own NumPyro model": ("svi",),
    "Your own training loop": ("training",),
    "Clipped gradients of any loss": ("clipping",),
    "What a run reveals": (
        "accounting",
        "accounting.base",
        "accounting.events",
        "accounting.calibrate",
        "accounting.ledger",
    ),
    "Which records a step sees": ("sampling.base", "sampling.poisson", "sampling.fixed_size", "sampling.feistel"),
    "How a sum leaves the records": ("mechanism.base", "mechanism.gaussian", "mechanism.exact"),
    "Algorithms and models": ("inference", "inference.base", "inference.run", "models.base"),
    "What goes wrong": ("errors",),
}
"""What users call, by what they want; modules below dpinfer."""
HEAD = """# Reference

<!-- Written by `make docs` from the docstrings: edit those. -->

What one calls from Python. `dpinfer <verb> --help` explains the command line, and `config/README.md` the settings.
"""
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Guarantee|Yields|Example):\s*$")
ENTRY = re.compile(r"^ {4}(\w[\w, *]*): (.*)$")

Definition = ast.FunctionDef | ast.ClassDef


def page() -> str:
    """The reference as Markdown."""
    lines = [HEAD]
    for title, modules in PARTS.items():
        lines.append(f"## {title}\n")
        for module in modules:
            lines += _module(module)
    return "\n".join(lines)


def _module(name: str) -> Iterator[str]:
    yield f"### dpinfer.{name}\n"
    yield from _text(ast.get_docstring(_tree(name)))
    for definition in _public(name):
        yield f"#### `{_signature(definition)}`\n"
        yield from _text(ast.get_docstring(definition))
        if isinstance(definition, ast.ClassDef):
            yield from _methods(definition)


def _public(name: str) -> Iterator[Definition]:
    """What a module defines for others, and what a package takes over from its modules."""
    for node in _tree(name).body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"dpinfer.{name}."):
            wanted = {alias.name for alias in node.names}
            yield from (
                found for found in _public(str(node.module).removeprefix("dpinfer.")) if found.name in wanted
            )


def _methods(definition: ast.ClassDef) -> Iterator[str]:
    own = [node for node in definition.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    for method in own:
        summary = (ast.get_docstring(method) or "").partition("\n\n")[0].replace("\n", " ")
        yield f"- `.{_signature(method)}`: {summary}"
    if own:
        yield ""


def _signature(definition: Definition) -> str:
    if isinstance(definition, ast.FunctionDef):
        return f"{definition.name}({', '.join(_names(definition))})"
    made = [node for node in definition.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    fields = [
        node.target.id
        for node in definition.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    return f"{definition.name}({', '.join(_names(made[0]) if made else fields)})"


def _names(function: ast.FunctionDef) -> Iterator[str]:
    """The names of the arguments; a star before those that are passed by keyword alone."""
    own = function.args
    yield from (argument.arg for argument in own.args if argument.arg not in ("self", "cls"))
    if own.vararg or own.kwonlyargs:
        yield f"*{own.vararg.arg if own.vararg else ''}"
    yield from (argument.arg for argument in own.kwonlyargs)
    if own.kwarg:
        yield f"**{own.kwarg.arg}"


def _text(docstring: str | None) -> Iterator[str]:
    """A docstring in Google's style as Markdown."""
    within = False
    for line in (docstring or "").splitlines():
        if SECTION.match(line):
            within = True
            yield f"**{line.strip().removesuffix(':')}**\n"
        elif within and (entry := ENTRY.match(line)):
            yield f"- `{entry[1]}`: {entry[2]}"
        elif within and line.startswith(" "):
            yield f"  {line.strip()}"
        else:
            within = False if line else within
            yield line
    yield ""


@cache
def _tree(name: str) -> ast.Module:
    path = SOURCE.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `dpinfer pages`."""
    parser.add_argument("--config", type=Path, default=Path("config"), help="folder (default: %(default)s)")
    parser.add_argument("--output", type=Path, required=True, help="folder to write the pages into")


def main(arguments: argparse.Namespace) -> None:
    """Write every page."""
    for name, text in pages(arguments.config).items():
        with replacing(arguments.output / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def pages(config: Path) -> dict[str, str]:
    """The text of each page by the name of its file."""
    path = config / "doubts.yaml"
    doubts = parse(Doubts, read(path), path)
    claims = {own.stem: parse(Claims, read(own), own) for own in sorted((config / "claims").glob("*.yaml"))}
    titles = {paper: stated.title for paper, stated in claims.items()}
    return {"soundness.md": webpage.page(doubts, titles), "reference.md": page()}
