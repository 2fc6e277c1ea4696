"""The commands that README and documentation tell a reader to type."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "config/README.md", "benchmarks/peers/README.md")),
    *sorted(ROOT.glob("docs/*.md")),
]
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`((?:make|snakemake|dpinfer|python|pip|\.venv/bin/\w+) [^`<]+)`")


class Command(NamedTuple):
    """One line to type.

    Attributes:
        words: The command, as a shell would split it.
        shown: What the document says that it prints, or None.
        is_whole: Whether it stands in a block of its own; in a sentence, arguments may be left out.
    """

    words: tuple[str, ...]
    shown: str | None = None
    is_whole: bool = True


def commands() -> list[Command]:
    """Every command of every document, once: where that says most about it."""
    found = [command for path in DOCUMENTS for command in _of(path.read_text(encoding="utf-8"))]
    ranked = sorted(found, key=lambda command: (command.is_whole, command.shown is not None))
    return list({command.words: command for command in ranked}.values())


def _of(text: str) -> list[Command]:
    found = []
    for language, block in BLOCK.findall(text):
        lines = [line.strip() for line in block.splitlines()]
        if language == "sh":
            found += [Command(_words(line)) for line in lines if line]
        elif language == "console":
            found += _sessions(block)
    prose = BLOCK.sub("", text)
    return found + [Command(_words(line), is_whole=False) for line in INLINE.findall(prose)]


def _sessions(block: str) -> list[Command]:
    indent = len(block) - len(block.lstrip(" "))
    plain = "\n".join(line[indent:] for line in block.splitlines())
    parts = plain.split("$ ")[1:]
    return [Command(_words(line), shown.rstrip()) for line, _, shown in (part.partition("\n") for part in parts)]


def _words(line: str) -> tuple[str, ...]:
    return tuple(shlex.split(line, comments=True))
