"""A command line of several verbs: it finds the module of one, runs it, and says in a sentence what went wrong."""

import argparse
import importlib
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from dpinfer import machine
from dpinfer.errors import InputError


class CommandLine(NamedTuple):
    """A command line of several verbs.

    Attributes:
        name: What it is called by.
        description: What it is for.
        verbs: Its verbs, and what each does.
        package: The package that has a module for each verb, with `add_arguments` and `main`.
        aliases: Words that verbs had before, and that still work; no list shows them.
    """

    name: str
    description: str
    verbs: Mapping[str, str]
    package: str
    aliases: Mapping[str, str] = MappingProxyType({})


def launch(program: CommandLine, arguments: Sequence[str] | None = None) -> int:
    """Run one verb; wrong input, or a file that cannot be had, is one sentence and exit code 2."""
    chosen = _parser(program).parse_args(arguments)
    logging.basicConfig(format="%(message)s")
    for package in ("dpinfer", program.package.partition(".")[0]):
        logging.getLogger(package).setLevel(logging.INFO)
    machine.prepare(chosen.device)
    # Verbs are imported one at a time: most need neither JAX nor the accountants.
    verb, called = importlib.import_module(f"{program.package}.{chosen.verb}"), f"{program.name} {chosen.verb}"
    parser = argparse.ArgumentParser(prog=called, description=verb.__doc__)
    verb.add_arguments(parser)
    for word in chosen.rest:
        # Python 3.11 takes this for no value at all, and hands on an empty list.
        if word.startswith("--") and word.endswith("=--"):
            parser.error(f"argument {word.partition('=')[0]}: expected one argument")
    understood, others = parser.parse_known_args(chosen.rest)
    if others and not hasattr(understood, "others"):
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    understood.others, understood.device = others, chosen.device
    try:
        machine.require(chosen.device)
        code = verb.main(understood) or 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough: nothing is left to be written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"{called}: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except (InputError, OSError) as error:
        print(f"{called}: {_sentence(error, understood)}", file=sys.stderr)
        return 2


def _sentence(error: InputError | OSError, understood: argparse.Namespace) -> str:
    """What is wrong; a file that cannot be read or written is the user's to mend, as wrong input is."""
    if isinstance(error, InputError):
        return str(error)
    # When a disk is full, the system does not say which file was being written.
    where = error.filename or getattr(understood, "output", None)
    return ": ".join(str(part) for part in (where, error.strerror or error) if part)


def _parser(program: CommandLine) -> argparse.ArgumentParser:
    width = max(map(len, program.verbs))
    listing = "\n".join(f"  {verb:<{width}}  {purpose}" for verb, purpose in program.verbs.items())
    parser = argparse.ArgumentParser(
        prog=program.name,
        description=program.description,
        epilog=f"verbs:\n{listing}\n\n`{program.name} <verb> --help` explains one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--device",
        choices=machine.PLATFORMS,
        default=os.environ.get(machine.DEVICE, "auto"),
        help=f"what JAX computes on (default: {machine.DEVICE} or auto)",
    )
    parser.add_argument(
        "verb", type=lambda word: program.aliases.get(word, word), choices=program.verbs, metavar="verb"
    )
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser
