"""Commands in a process group of their own, and the signals that reach them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checkout import ROOT, wait_for

STUBBORN = "trap '' INT TERM HUP"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
OBEDIENT = "trap 'touch tidied; exit 1' INT"


def start(folder: Path, trap: str, ignored: tuple[signal.Signals, ...] = ()) -> subprocess.Popen[str]:
    """Start a shell that waits for half a minute, and has a child that does so, too."""
    shell = f"{trap}; (trap - INT; sleep 30) & echo $! > child; touch started; while sleep 0.05; do :; done"
    program = (
        "import sys; from pipeline.stages import run; run.PATIENCE = 0.3; "
        f"sys.exit(run.run({['sh', '-c', shell]}))"
    )

    def prepare() -> None:
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    made = subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, env=ENVIRONMENT, start_new_session=True, text=True,
        preexec_fn=prepare,
    )  # fmt: skip
    wait_for(folder / "started")
    return made


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def child_of(folder: Path) -> int:
    return int((folder / "child").read_text())


@pytest.mark.parametrize("trap", [OBEDIENT, STUBBORN])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_being_stopped_leaves_nobody_behind(tmp_path: Path, trap: str, number: signal.Signals) -> None:
    run = start(tmp_path, trap)
    run.send_signal(number)
    assert run.wait(20) == 128 + number
    assert not is_alive(child_of(tmp_path))
    assert (tmp_path / "tidied").exists() == (trap == OBEDIENT)


def test_what_a_script_ignores_is_not_passed_on_but_it_can_still_be_stopped(tmp_path: Path) -> None:
    run = start(tmp_path, OBEDIENT, ignored=(signal.SIGINT, signal.SIGHUP))
    for number in (signal.SIGINT, signal.SIGHUP):
        run.send_signal(number)
    time.sleep(0.3)
    assert run.poll() is None
    run.send_signal(signal.SIGTERM)
    assert run.wait(20) == 128 + signal.SIGTERM
    assert (tmp_path / "tidied").exists()


def test_the_exit_code_is_passed_on(tmp_path: Path) -> None:
    program = "import sys; from pipeline.stages import run; sys.exit(run.run(['sh', '-c', 'exit 7']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=ENVIRONMENT, check=False)
    assert done.returncode == 7
