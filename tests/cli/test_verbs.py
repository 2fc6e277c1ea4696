import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import dpinfer.cli
import pipeline.cli
import pipeline.stages
from dpinfer.cli import ALIASES, COMMANDS
from pipeline.cli import STAGES

PROGRAMS = {"dpinfer": dpinfer.cli, "python -m pipeline": pipeline.cli}
VERBS = [(name, verb) for name, verbs in (("dpinfer", COMMANDS), ("python -m pipeline", STAGES)) for verb in verbs]


@pytest.mark.parametrize(("folder", "verbs"), [(dpinfer.cli, COMMANDS), (pipeline.stages, STAGES)])
def test_every_verb_has_a_module_and_every_module_a_verb(folder: ModuleType, verbs: dict[str, str]) -> None:
    files = set(Path(folder.__path__[0]).glob("*.py")) - {Path(folder.__path__[0], "__init__.py")}
    assert set(verbs) == {path.stem for path in files if "\ndef main(" in path.read_text(encoding="utf-8")}


@pytest.mark.parametrize(("name", "verbs"), [("dpinfer", COMMANDS), ("python -m pipeline", STAGES)])
def test_help_lists_every_verb(name: str, verbs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        PROGRAMS[name].main(["--help"])
    said = capsys.readouterr().out
    assert all(re.search(rf"^  {verb} +{purpose[:20]}", said, re.M) for verb, purpose in verbs.items())


@pytest.mark.parametrize(("name", "verb"), VERBS)
def test_every_verb_explains_itself(name: str, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        PROGRAMS[name].main([verb, "--help"])
    assert ended.value.code == 0
    assert f"usage: {name} {verb}" in capsys.readouterr().out


@pytest.mark.parametrize(("old", "new"), [("own", "fit"), ("sigma", "noise")])
def test_words_that_verbs_had_before_still_work(old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    for word in (old, new):
        with pytest.raises(SystemExit) as ended:
            dpinfer.cli.main([word, "--help"])
        assert ended.value.code == 0
        assert f"usage: dpinfer {new}" in capsys.readouterr().out


def test_an_old_word_gives_the_same_answer(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--epsilon", "1", "--delta", "1e-5", "--sampler", "full", "--steps", "100", "--accountant", "rdp"]
    said = []
    for word in ("sigma", "noise"):
        assert dpinfer.cli.main([word, *line]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_old_words_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for line in (["--help"], ["no-such-verb"]):
        with pytest.raises(SystemExit):
            dpinfer.cli.main(line)
        said = capsys.readouterr()
        listed = set(re.findall(r"\w+", said.out + said.err.rpartition("choose from")[2]))
        assert {"fit", "noise"} <= listed
        assert not [word for word in ALIASES if re.search(rf"(^  |'|, ){word}\b", said.out + said.err, re.M)]


def test_wrong_input_is_one_sentence_and_exit_code_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--sources", str(tmp_path / "none.yaml"), "--output", str(tmp_path / "a.npz")]
    assert pipeline.cli.main(["data", '{"name": "iris"}', *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("python -m pipeline data: settings: name is 'iris', but should be one of 'abalone'")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_argument_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        pipeline.cli.main(["schema", "--output", "x", "--colour", "red"])
    assert ended.value.code == 2
    assert "unrecognized arguments: --colour red" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in COMMANDS)])
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
    command = [sys.executable, "-m", "pipeline", "--device", "gpu", "fit"]
    arguments = ["a", "--output", "b"]
    done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip().endswith("device is gpu, but JAX finds none on this machine")
