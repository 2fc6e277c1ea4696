import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpinfer import cli

ROOT = Path(cli.__file__).parent


@pytest.mark.parametrize(("package", "verbs"), [("commands", cli.COMMANDS), ("stages", cli.STAGES)])
def test_every_verb_has_a_module_and_every_module_a_verb(package: str, verbs: dict[str, str]) -> None:
    files = (ROOT / package).glob("*.py")
    assert set(verbs) == {path.stem for path in files if "\ndef main(" in path.read_text(encoding="utf-8")}


def test_no_verb_has_two_modules() -> None:
    assert not set(cli.COMMANDS) & set(cli.STAGES)


def test_help_lists_every_verb_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    _, mine, pipeline = re.split("for you:|stages of the pipeline:", capsys.readouterr().out)
    assert all(re.search(rf"^  {verb} +{purpose[:20]}", mine, re.M) for verb, purpose in cli.COMMANDS.items())
    assert all(re.search(rf"^  {verb} +{purpose[:20]}", pipeline, re.M) for verb, purpose in cli.STAGES.items())


@pytest.mark.parametrize("verb", cli.COMMANDS | cli.STAGES)
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


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in cli.COMMANDS)])
def test_help_needs_nothing_heavy(arguments: list[str]) -> None:
    watch = (
        "import atexit, sys; atexit.register(lambda: print(bool({'jax', 'scipy', 'pandas'} & set(sys.modules))))"
    )
    code = f"{watch}; from dpinfer.cli import main; main({arguments})"
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
