"""Build one library's environment from its pinned requirements, or note why that is not possible."""

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path


def main() -> None:
    """Write where its Python is, or the error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requirements", type=Path, help="the pinned versions")
    parser.add_argument("--environment", type=Path, required=True, help="folder of the environment")
    parser.add_argument("--output", type=Path, required=True, help="the .json to write")
    arguments = parser.parse_args()
    venv.create(arguments.environment, with_pip=True, clear=True)
    python = arguments.environment.absolute() / "bin/python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "-r", arguments.requirements], stderr=subprocess.PIPE, text=True, check=False)
    sys.stderr.write(done.stderr)
    lines = done.stderr.strip().splitlines()
    report = {"python": str(python)} if done.returncode == 0 else {"error": lines[-1] if lines else "pip failed"}
    arguments.output.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
