import subprocess
import sys
from pathlib import Path

import pytest

from dpinfer import cli

STAGES = Path(cli.__file__).parent / "stages"


def test_every_verb_has_a_module_and_every_module_a_verb() -> None:
    assert set(cli.VERBS) == {path.stem for path in STAGES.glob("*.py")} - {"__init__"}


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([verb, "--help"])
    assert ended.value.code == 0
    assert f"usage: dpinfer {verb}" in capsys.readouterr().out


def test_wrong_input_is_one_sentence_and_exit_code_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--sources", str(tmp_path / "none.yaml"), "--output", str(tmp_path / "a.npz")]
    assert cli.main(["data", '{"name": "iris"}', *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dpinfer data: settings: name is 'iris', but should be one of 'abalone'")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_argument_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["schema", "--output", "x", "--colour", "red"])
    assert ended.value.code == 2
    assert "unrecognized arguments: --colour red" in capsys.readouterr().err


def test_help_needs_no_jax() -> None:
    watch = "import atexit, sys; atexit.register(lambda: print('jax' in sys.modules))"
    code = f"{watch}; from dpinfer.cli import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.endswith("False\n")


def test_a_device_that_is_not_there_gets_its_sentence(tmp_path: Path) -> None:
    probe = [sys.executable, "-c", "import jax; jax.devices()"]
    if subprocess.run(probe, env={"JAX_PLATFORMS": "gpu"}, capture_output=True, check=False).returncode == 0:
        pytest.skip("this machine has a GPU")
    command = [sys.executable, "-m", "dpinfer", "--device", "gpu", "fit"]
    arguments = ["--calibration", "a", "--data", "b", "--output", "c"]
    done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip().endswith("device is gpu, but JAX finds none on this machine")
