from collections.abc import Callable
from typing import Any

import pytest

from dpinfer.accounting import accountant
from dpinfer.accounting.events import PoissonGaussian, Repeat
from dpinfer.accounting.sound import pld

RUN = "noise --epsilon 1 --delta 1e-5 --sampling-rate 0.01 --steps 10000"


def test_in_words(say: Callable[[str], str]) -> None:
    first, second, third = say(RUN).splitlines()
    assert first == "noise multiplier 3.8132"
    assert second.startswith("epsilon <= 0.9999")
    assert third.startswith("(pld, sampler poisson, add-remove: ")


def test_as_json_in_full_precision(ask: Callable[[str], Any]) -> None:
    answer = ask(RUN)
    noise = answer["noise_multiplier"]
    assert len(repr(noise)) > 10
    assert answer["epsilon"] == pld.epsilon(Repeat(PoissonGaussian(noise, 0.01), 10_000), 1e-5, "add-remove").upper
    assert 0.9999 <= answer["epsilon"] <= 1.0


@pytest.mark.parametrize(
    ("epsilon", "rate", "steps", "options"),
    [
        (0.1, 0.3, 50, ""),
        (0.5, 0.002, 9375, ""),
        (2, 0.001, 100_000, "--adjacency replace-one"),
        (3, 0.02, 700, "--sampler subset --adjacency replace-one"),
        (8, 0.1, 300, "--accountant rdp"),
        (1.7, 0.05, 333, "--accountant moments --max-order 20"),
        (0.9, 0.01, 100, "--accountant wang --sampler subset --adjacency replace-one"),
        (1, 0.01, 1000, "--accountant advanced"),
    ],
)
def test_the_printed_noise_keeps_the_budget(
    epsilon: float, rate: float, steps: int, options: str, say: Callable[[str], str], ask: Callable[[str], Any]
) -> None:
    run = f"--sampling-rate {rate} --steps {steps} --delta 1e-6 {options}"
    printed = say(f"noise --epsilon {epsilon} {run}").splitlines()[0].rpartition(" ")[2]
    spent = ask(f"epsilon --noise-multiplier {printed} {run}")["epsilon"]
    assert 0.999 * epsilon <= spent <= epsilon


def test_the_printed_noise_is_raised_until_the_accountant_agrees(
    say: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An accountant whose grid makes numbers of few digits cost more than their neighbours."""
    module: Any = accountant("rdp")
    true = module.epsilon
    run = "noise --epsilon 1 --delta 1e-5 --sampling-rate 0.01 --steps 1000 --accountant rdp"
    honest = float(say(run).splitlines()[0].rpartition(" ")[2])

    def rough(event: Repeat, *rest: Any, **options: Any) -> Any:
        assert isinstance(event.event, PoissonGaussian)
        noise = event.event.noise_multiplier
        is_short = len(f"{noise:.12g}") <= 6
        bound = true(event, *rest, **options)
        return bound._replace(upper=1.02) if is_short and 1.0 < noise < honest + 2.5e-4 else bound

    monkeypatch.setattr(module, "epsilon", rough)
    assert float(say(run).splitlines()[0].rpartition(" ")[2]) == pytest.approx(honest + 3e-4, abs=1e-9)


def test_a_floor_under_epsilon_is_reported(refuse: Callable[[str], str]) -> None:
    said = refuse(f"{RUN.replace('--epsilon 1', '--epsilon 0.1')} --accountant moments")
    assert said.startswith("dpinfer noise: The target epsilon 0.1 cannot be reached: ")
