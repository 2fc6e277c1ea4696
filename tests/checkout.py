"""A copy of the project to edit, and a way to run the pipeline in it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# The smallest experiment that goes through every stage.
CONFIG = ("scale=smoke", "experiments=[abalone_descent]")
PARTS = ("Snakefile", "config", "environment.yml", "profiles", "src", "workflow")


@dataclass(frozen=True)
class Checkout:
    """A copy of the project in which a test may edit anything and run the pipeline at smoke scale."""

    root: Path

    def snakemake(
        self,
        *arguments: str,
        config: tuple[str, ...] = (),
        check: bool = True,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake, with more variables in its environment; with `check`, a failure shows what it said."""
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            "2",
            # Snakemake takes as long to exit; here there are few jobs, and many calls.
            "--max-jobs-per-timespan",
            "100/1s",
            "--config",
            *CONFIG,
            *config,
            *arguments,
        ]
        variables = {**self.environment, **(environment or {})}
        done = subprocess.run(command, cwd=self.root, env=variables, capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            pytest.fail(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
        return done

    def start(self, *arguments: str, module: str = "pipeline") -> subprocess.Popen[str]:
        """Start `python -m pipeline run`, or Snakemake itself, in a process group of its own, as a shell would."""
        verb = ["run"] if module == "pipeline" else []
        command = [sys.executable, "-m", module, *verb, "--cores", "2", "--config", *CONFIG, *arguments]
        return subprocess.Popen(
            command, cwd=self.root, env=self.environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            # Where tests run in the background of a shell, they would hand on that Ctrl-C is ignored.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    def copy(self, target: Path) -> "Checkout":
        """The same with all that was made in it."""
        subprocess.run(["cp", "-a", str(self.root), str(target)], check=True)
        return Checkout(target)

    @property
    def environment(self) -> dict[str, str]:
        """The caller's environment; no download may be tried."""
        return {**os.environ, "DPINFER_OFFLINE": "1", "JAX_PLATFORMS": "cpu"}

    def pending(self, *arguments: str, config: tuple[str, ...] = ()) -> dict[str, int]:
        """How many jobs of each rule a dry run would start."""
        said = self.snakemake("--dry-run", *arguments, config=config).stdout
        table = said.split("Job stats:", maxsplit=1)[-1].split("total", maxsplit=1)[0]
        return {rule: int(count) for rule, count in re.findall(r"^(\w+)\s+(\d+)$", table, re.MULTILINE)}

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that must be there."""
        content = (self.root / path).read_text(encoding="utf-8")
        assert content.count(old) == 1, f"{path} has {content.count(old)} times {old!r}"
        (self.root / path).write_text(content.replace(old, new), encoding="utf-8")

    def contents(self, folder: str) -> dict[str, bytes]:
        """All artifacts below a folder of the results, but the stamps, which tell the time taken."""
        base = self.root / "results/smoke" / folder
        return {
            str(path.relative_to(base)): path.read_bytes()
            for path in sorted(base.rglob("*"))
            if path.is_file() and path.suffix != ".json"
        }


def wait_for(path: Path, seconds: float = 120) -> None:
    """Wait until there is such a file."""
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"there is no {path} after {seconds} seconds"
        time.sleep(0.02)


def copy_project(target: Path) -> Checkout:
    """Copy what the pipeline needs, without anything that a run has made."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / part, target / part)
    return Checkout(target)
