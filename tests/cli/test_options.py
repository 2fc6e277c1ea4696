"""Impossible arguments: one clear sentence and exit code 2, before any work."""

from collections.abc import Callable
from pathlib import Path

import pytest

GOOD = {
    "--sampling-rate": "0.01",
    "--noise-multiplier": "1",
    "--steps": "10",
    "--delta": "1e-5",
}


def line(verb: str = "epsilon", **changes: str | None) -> str:
    given = GOOD | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
    return " ".join([verb, *(f"{name} {value}" for name, value in given.items() if value is not None)])


@pytest.fixture(autouse=True)
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("work was done")

    for name in ("pld", "rdp", "moments", "wang"):
        monkeypatch.setattr(f"dpinfer.accounting.sound.{name}.epsilon", fail)


@pytest.mark.parametrize("name", ["sampling_rate", "noise_multiplier", "steps", "delta", "max_order"])
@pytest.mark.parametrize("value", ["-1", "0", "nan", "inf", "many", "1e99"])
def test_no_number_may_be_impossible(name: str, value: str, refuse: Callable[[str], str]) -> None:
    said = refuse(line(accountant="rdp", **{name: value}))
    assert said.startswith(f"dpinfer epsilon: error: argument --{name.replace('_', '-')}: is '{value}', but must ")


@pytest.mark.parametrize("verb", ["noise", "steps", "rate"])
@pytest.mark.parametrize("value", ["0", "-2", "nan", "inf", "one"])
def test_no_budget_may_be_impossible(verb: str, value: str, refuse: Callable[[str], str]) -> None:
    said = refuse(f"{verb} --epsilon {value} --delta 1e-5")
    assert said.startswith(f"dpinfer {verb}: error: argument --epsilon: is '{value}', but must be a ")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            line(sampling_rate="1.5"),
            "argument --sampling-rate: is '1.5', but must lie in (0, 1], and not below 1e-12",
        ),
        (line(delta="1"), "argument --delta: is '1', but must lie strictly between 0 and 1, and not below 1e-30"),
        (line(steps="2.5"), "argument --steps: is '2.5', but must be a whole number between 1 and 1000000000"),
        (
            line(noise_multiplier="1e-3"),
            "argument --noise-multiplier: is '1e-3', but must be a number between 0.01",
        ),
        (line(sampler="shuffle"), "argument --sampler: invalid choice: 'shuffle'"),
        (line(steps=None), "the following arguments are required: --steps"),
        (
            line("rate --epsilon 1", sampling_rate=None, sampler="full"),
            "argument --sampler: invalid choice: 'full'",
        ),
        (line("advise --records 5", steps="5", epochs="2"), "not allowed with argument --steps"),
    ],
)
def test_the_sentence_of_the_parser(arguments: str, sentence: str, refuse: Callable[[str], str]) -> None:
    assert sentence in refuse(arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (line(sampling_rate=None), "--sampling-rate is missing, but the sampler poisson needs it."),
        (
            line(sampling_rate=None, sampler="subset"),
            "--sampling-rate is missing, but the sampler subset needs it.",
        ),
        (line(sampler="full"), "--sampling-rate is 0.01, but the sampler full takes all records."),
        (
            line("noise --epsilon 1", noise_multiplier=None, sampler="full"),
            "--sampling-rate is 0.01, but the sampler full takes all records.",
        ),
        (
            line(max_order="9"),
            "--max-order is 9, but the pld accountant has no orders; rdp, moments, wang have.",
        ),
        (
            line(adjacency="replace-one", accountant="moments"),
            "The moments accountant is for add-remove adjacency, not for replace-one.",
        ),
        (line(accountant="wang"), "The wang bound is for replace-one adjacency, not for add-remove."),
        (
            line("steps --epsilon 1", steps=None, sampler="subset", accountant="fourier"),
            "The fourier accountant cannot take SubsetGaussian(noise_multiplier=1.0, sampling_rate=0.01): "
            "it knows PoissonGaussian.",
        ),
        ("advise --records 10 --batch 11", "--batch is 11, but there are only 10 records."),
        (
            "advise --records 10 --batch 5 --sampler full",
            "--batch is 5, but the sampler full takes all 10 records.",
        ),
        (
            "advise --records 10 --epochs 1e9",
            "--epochs is 1e+09, but that makes more than 1000000000 steps.",
        ),
        (
            "advise --records 10 --plot a.jpeg",
            "--plot is a.jpeg, but its name must end in .png, .pdf, .svg.",
        ),
        (
            "advise --records 10 --plot nowhere/a.png",
            "--plot is nowhere/a.png, but nowhere is no folder that can be written to.",
        ),
    ],
)
def test_the_sentence_of_a_command(arguments: str, sentence: str, refuse: Callable[[str], str]) -> None:
    assert refuse(arguments) == f"dpinfer {arguments.split()[0]}: {sentence}"


def test_a_plot_cannot_replace_a_folder(tmp_path: Path, refuse: Callable[[str], str]) -> None:
    folder = tmp_path / "a.png"
    folder.mkdir()
    assert refuse(f"advise --records 10 --plot {folder}").endswith("but that is a folder.")


def test_a_plot_needs_a_folder_it_may_write_to(tmp_path: Path, refuse: Callable[[str], str]) -> None:
    (tmp_path / "file").write_text("")
    assert refuse(f"advise --records 10 --plot {tmp_path}/file/a.png").endswith("folder that can be written to.")
