"""Run Snakemake with the given arguments, after clearing a lock that a killed run left behind.

It runs in a process group of its own, so that whoever stops us stops it and all that it has started. Signals go to
us alone, and from here to the group. Whatever we are stopped by, the group is interrupted as by Ctrl-C: then
Snakemake stops its jobs and drops its lock, while at SIGTERM it waits for them, and a hangup kills it at once.
"""

import argparse
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from pipeline import recovery

PATIENCE = 20.0
"""Seconds after which a group that was to stop is told so more firmly, and as many until it is killed."""

Handler = Callable[[int, FrameType | None], None]


def run(command: list[str]) -> int:
    """Run a command to its end and return its exit code, or 128 + the signal that stopped it.

    SIGTERM and a hangup leave no process of the group behind. Ctrl-C is passed on, and Ctrl-Z pauses the group.
    """
    stopped: list[int] = []
    started: list[int] = []

    def send(number: int) -> None:
        for group in started:
            with suppress(ProcessLookupError):
                os.killpg(group, number)

    def interrupt(number: int, frame: FrameType | None) -> None:
        del frame
        stopped.append(number)
        send(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        # Once more would interrupt the group at tidying up.
        if not stopped:
            interrupt(number, frame)
        for wait, harder in ((PATIENCE, signal.SIGTERM), (2 * PATIENCE, signal.SIGKILL)):
            timer = threading.Timer(wait, send, (harder,))
            timer.daemon = True
            timer.start()

    def pause(number: int, frame: FrameType | None) -> None:
        del number, frame
        send(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        send(signal.SIGCONT)

    handlers: dict[int, Handler] = {
        signal.SIGINT: interrupt, signal.SIGTERM: stop, signal.SIGHUP: stop, signal.SIGTSTP: pause
    }  # fmt: skip
    with _handling(handlers), subprocess.Popen(command, process_group=0) as process:
        started.append(process.pid)
        if stopped:
            send(signal.SIGINT)
        code = process.wait()
        if set(stopped) & {signal.SIGTERM, signal.SIGHUP}:
            send(signal.SIGKILL)
        started.clear()
    return 128 + stopped[0] if stopped else code


@contextmanager
def _handling(handlers: dict[int, Handler]) -> Iterator[None]:
    """Handle signals, but those that whoever started us wants ignored."""
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, handler)
        elif number == signal.SIGINT:
            # As in the background of a shell script. To do nothing is not handed on, to ignore is, and then the
            # command could not be interrupted.
            signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `python -m pipeline run`."""
    parser.epilog = "All arguments are handed to snakemake as they are."
    parser.set_defaults(others=[])


def main(arguments: argparse.Namespace) -> int:
    """Run Snakemake, unless somebody else is at work here.

    Snakemake's lock is a file that outlives a killed run. Ours, which every run of this project's Snakefile holds,
    dies with it: having ours to ourselves proves that Snakemake's, if there is one, is stale.
    """
    snakemake = [sys.executable, "-m", "snakemake"]
    with recovery.hold() as held:
        if any((recovery.STATE / "locks").glob("*")):
            code = run([*snakemake, "--unlock", "--quiet", "all"])
            if code > 128:
                return code
        recovery.make_shared(held)
        return run([*snakemake, *arguments.others])
