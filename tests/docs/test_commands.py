"""Every command of README and documentation is tried: run where that is quick, else in a dry run."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from snakemake.cli import get_argument_parser

from checkout import Checkout, copy_project
from docs_commands import ROOT, Command, commands
from dpinfer import cli
from dpinfer.audit.cases import CASES

COMMANDS = commands()
PROGRAMS = {"make", "snakemake", "dpinfer", ".venv/bin/pip", "python", "source", "tail"}
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
TABLES = ("people.csv", "adult.csv", "data.csv")


def read(text: str) -> tuple[list[str], list[float]]:
    """The words and the numbers of a text."""
    return NUMBER.split(text), [float(number) for number in NUMBER.findall(text)]


def of(program: str, *first: str) -> list[Command]:
    return [command for command in COMMANDS if command.words[: 1 + len(first)] == (program, *first)]


def accounts() -> list[Command]:
    others = ("audit", "fit")
    return [command for command in of("dpinfer") if command.is_whole and command.words[1] not in others]


def test_there_is_a_way_to_try_every_command() -> None:
    assert {command.words[0] for command in COMMANDS} == PROGRAMS
    assert len(accounts()) > 10


@pytest.mark.parametrize("command", accounts(), ids=lambda command: " ".join(command.words[1:]))
def test_an_account_prints_what_the_document_shows(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(command.words[1:])
    said = capsys.readouterr()
    if command.shown is None:
        assert code == 0
    else:
        words, numbers = read((said.out or said.err).rstrip())
        shown_words, shown_numbers = read(command.shown)
        assert words == shown_words
        # Full precision is shown once, whose last digits depend on the machine.
        assert numbers == pytest.approx(shown_numbers, rel=1e-6)


def test_an_audit_is_of_mechanisms_that_there_are() -> None:
    """What it prints takes minutes, and varies with the machine's arithmetic; tests of audits have it in small."""
    shown = [command for command in of("dpinfer", "audit") if command.shown]
    assert shown
    for command in shown:
        head, *rows = str(command.shown).splitlines()
        assert head.split() == [
            "mechanism",
            "lower",
            "bound",
            "confidence",
            "eps_paper",
            "eps_sound",
            "verdict",
            "neighbours",
        ]
        assert [row.split()[0] for row in rows] == list(command.words[2:])
        assert set(command.words[2:]) <= CASES.keys()


@pytest.mark.parametrize(
    "command",
    [command for command in of("dpinfer", "fit") if "--epsilon" in command.words],
    ids=lambda command: " ".join(command.words[2:]),
)
def test_a_fit_of_ones_own_is_planned(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    shutil.copy("examples/adult_logistic.py", "model.py")
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(1, 20, 2000) for name in ("age", "education", "hours")}
    people = pd.DataFrame({**columns, "sex": "Male", "occupation": "Trade", "income": rng.integers(0, 2, 2000)})
    for name in TABLES:
        people.to_csv(name, index=False)
    assert cli.main([*command.words[1:], "--dry-run"]) == 0
    assert "2000 records; outcomes income" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", [command for command in of("dpinfer") if not command.is_whole], ids=lambda own: " ".join(own.words)
)
def test_what_a_sentence_names_is_there(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    verb, *options = command.words[1:]
    with pytest.raises(SystemExit):
        cli.main([verb, "--help"])
    said = capsys.readouterr().out
    assert all(option in said for option in options if option.startswith("--"))


@pytest.mark.parametrize("command", of("make"), ids=lambda command: " ".join(command.words))
def test_make_knows_its_target(command: Command) -> None:
    subprocess.run(["make", "--dry-run", *command.words[1:]], cwd=ROOT, check=True, capture_output=True)


def test_extras_that_are_to_be_installed_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    asked = [command.words[-1] for command in of(".venv/bin/pip", "install", "-e")]
    assert asked
    assert all(name.removeprefix(".[").removesuffix("]") in extras for name in asked)


def test_programs_and_logs_that_are_named_exist() -> None:
    programs = [command for command in of("python") if command.words[1] != "-m"]
    assert all((ROOT / command.words[1]).is_file() for command in programs)
    for command in of("tail"):
        stage, experiment = Path(command.words[-1]).parts[2:4]
        assert (ROOT / f"workflow/rules/{stage}.smk").is_file()
        assert list(ROOT.glob(f"config/experiments/*/{experiment}.yaml"))


def test_a_run_hands_its_options_to_snakemake() -> None:
    runs = of("python", "-m", "pipeline", "run")
    assert runs
    for command in runs:
        get_argument_parser().parse_args(command.words[4:])


class Asked:
    """What a call of Snakemake asks for."""

    def __init__(self, command: Command) -> None:
        understood = get_argument_parser().parse_args(command.words[1:])
        self.targets = set(understood.targets)
        self.config = dict(pair.split("=", 1) for pair in understood.config or [])


ASKED = [Asked(command) for command in of("snakemake")]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = copy_project(tmp_path_factory.mktemp("docs"))
    shutil.copytree(ROOT / "benchmarks", made.root / "benchmarks")
    return made


def test_snakemake_can_make_every_target(project: Checkout) -> None:
    """All targets of calls without settings, in one dry run."""
    targets = set().union(*(own.targets for own in ASKED if not own.config))
    assert len(targets) > 5
    done = project.snakemake("--dry-run", "--", *sorted(targets), config=("scale=laptop", "experiments=all"))
    assert "Exception" not in done.stdout + done.stderr


@pytest.mark.parametrize("scale", ["smoke", "paper"])
def test_snakemake_takes_every_setting(project: Checkout, scale: str) -> None:
    """All settings that are named for a scale, in one dry run; those for the default scale join the last."""
    settings = {
        f"{key}={value}"
        for own in ASKED
        if own.config.get("scale", "paper") == scale
        for key, value in own.config.items()
    }
    assert settings
    project.snakemake("--dry-run", config=("experiments=all", f"scale={scale}", *sorted(settings)))


def test_targets_and_settings_are_not_mixed() -> None:
    """The two tests before try them apart; and the folder of a target follows from the scale."""
    assert not [own for own in ASKED if own.config and own.targets]
