"""Time one step of every library in turns; write a table of times and memory relative to NumPyro's SVI."""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from dpinfer.atomic import replacing

HERE = Path(__file__).parent
NUM_PARAMETERS = 688_884
REFERENCE = "NumPyro SVI, not private"


class Library(NamedTuple):
    """How a library is run: in which environment, by which script, with which argument, how many steps at once."""

    environment: str | None
    script: str
    argument: str
    steps: int


LIBRARIES = {
    REFERENCE: Library(None, "numpyro_step.py", "", 20),
    "dpinfer, not private": Library(None, "dpinfer_step.py", "exact", 20),
    "dpinfer, book-keeping": Library(None, "dpinfer_step.py", "private", 20),
    "Opacus, ghost clipping": Library("opacus", "opacus_step.py", "ghost", 5),
    "Opacus, hooks": Library("opacus", "opacus_step.py", "hooks", 2),
    "TF Privacy, layer registry": Library("tf_privacy", "tf_privacy_step.py", "fast", 5),
    "TF Privacy, vectorised": Library("tf_privacy", "tf_privacy_step.py", "vectorised", 2),
    "jax-privacy, micro-batch 1": Library("jax_privacy", "jax_privacy_step.py", "1", 5),
    "jax-privacy, whole batch": Library("jax_privacy", "jax_privacy_step.py", "0", 1),
    "d3p": Library("d3p", "d3p_step.py", "", 1),
}


class Running:
    """A library's process, ready to take steps."""

    def __init__(self, name: str, python: str, logs: Path) -> None:
        self.library = LIBRARIES[name]
        command = [python, str(HERE / self.library.script), self.library.argument]
        with (logs / f"{name.replace(' ', '_')}.log").open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.questions: IO[str] = self.process.stdin  # type: ignore[assignment]
        self.answers: IO[str] = self.process.stdout  # type: ignore[assignment]
        found = self.answers.readline().strip()
        if found != str(NUM_PARAMETERS):
            self.stop()
            raise RuntimeError(f"it should have {NUM_PARAMETERS} parameters, and says: {found or 'nothing'}")

    def ask(self) -> tuple[float, float]:
        """Milliseconds for a step, and the most memory that the process has had so far, in MB."""
        print(self.library.steps, file=self.questions, flush=True)
        seconds, megabytes = map(float, self.answers.readline().split())
        return 1000 * seconds / self.library.steps, megabytes

    def stop(self) -> None:
        """End the process."""
        self.questions.close()
        self.process.wait()


def main() -> None:
    """Start all, warm them up, ask them in turns, write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environments", nargs="+", type=Path, help="the .json of each environment")
    parser.add_argument("--rounds", type=int, default=9, help="how often each is timed (%(default)s)")
    parser.add_argument("--logs", type=Path, required=True, help="folder of the libraries' own messages")
    parser.add_argument("--output", type=Path, required=True, help="the .csv to write; an .md stands beside it")
    arguments = parser.parse_args()
    arguments.logs.mkdir(parents=True, exist_ok=True)
    environments = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in arguments.environments}
    running, obstacles = start(environments, arguments.logs)
    answers: dict[str, list[tuple[float, float]]] = {name: [] for name in running}
    for turn in tqdm(range(arguments.rounds + 1), desc="rounds"):
        for name, process in running.items():
            answer = process.ask()
            if turn:  # the first round warms up
                answers[name].append(answer)
    for process in running.values():
        process.stop()
    write(arguments.output, table(answers, obstacles))


def start(environments: Mapping[str, Mapping[str, str]], logs: Path) -> tuple[dict[str, Running], dict[str, str]]:
    """Start every library; those that cannot be run are listed with the reason."""
    running, obstacles = {}, {}
    for name in tqdm(LIBRARIES, desc="starting"):
        environment = LIBRARIES[name].environment
        report = {"python": sys.executable} if environment is None else environments[environment]
        try:
            if "error" in report:
                raise RuntimeError(f"it cannot be installed: {report['error']}")
            running[name] = Running(name, report["python"], logs)
        except RuntimeError as error:
            obstacles[name] = str(error)
    return running, obstacles


def table(answers: Mapping[str, list[tuple[float, float]]], obstacles: Mapping[str, str]) -> pd.DataFrame:
    """One row for each library: medians over rounds, and the quartiles of its time over that of the reference."""
    reference = np.array(answers[REFERENCE])
    rows: list[dict[str, Any]] = []
    for name in LIBRARIES:
        if name in obstacles:
            rows.append({"library": name, "note": obstacles[name]})
            continue
        own = np.array(answers[name])
        low, ratio, high = np.quantile(own[:, 0] / reference[:, 0], (0.25, 0.5, 0.75))
        memory = own[-1, 1]
        rows.append(
            {
                "library": name, "milliseconds": np.median(own[:, 0]), "ratio": ratio, "ratio_low": low,
                "ratio_high": high, "megabytes": memory, "memory_ratio": memory / reference[-1, 1], "note": "",
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def write(path: Path, rows: pd.DataFrame) -> None:
    """Write both forms of the table."""
    with replacing(path) as temporary:
        rows.to_csv(temporary, index=False)
    with replacing(path.with_suffix(".md")) as temporary:
        temporary.write_text(rows.to_markdown(index=False, floatfmt=".3g") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
