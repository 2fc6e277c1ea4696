"""The loops printed in docs/training.md are the loops that are tested."""

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.accounting.events import CUT, PoissonGaussian, Repeat
from dpinfer.accounting.sound import pld
from dpinfer.training import Batch, Loader, Optimiser, State
from dpinfer.types import Tree

TEXT = (Path(__file__).parents[2] / "docs/training.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SMALLER = {"60_000": "240", "=256": "=12", "14_040": "60", "range(60)": "range(3)", "2_000": "5"}
"""What a test can run: 3 epochs of 20 steps."""


def nothing(parameters: Tree, record: Tree) -> jax.Array:
    return 0.0 * (parameters.sum() + record[0].sum() + record[1])


def small(block: str) -> str:
    for long, short in SMALLER.items():
        block = block.replace(long, short)
    return block


@pytest.fixture
def names() -> dict[str, Any]:
    images, labels = np.random.default_rng(0).normal(size=(240, 4)), np.arange(240) % 10
    return {
        "loss": nothing, "parameters": jnp.zeros(5), "images": images, "labels": labels, "key": jax.random.key(0),
    }  # fmt: skip


def test_the_numbers_of_the_page_fit_each_other() -> None:
    steps = int(re.search(r"num_steps=([\d_]+),  # 60 epochs", TEXT)[1])  # type: ignore[index]
    assert steps == 60 * round(60_000 / 256)
    assert all(long in "".join(BLOCKS) for long in SMALLER)


def test_the_loop_never_repeats_a_batch_or_noise_and_costs_what_it_says(
    names: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, noises = [], []
    batch_of, step_of = Loader.batch, Optimiser.step

    def batch(self: Loader, state: State) -> Batch:
        drawn = batch_of(self, state)
        rows.append(tuple(np.asarray(drawn.records[0])[np.asarray(drawn.mask)].ravel().tolist()))
        return drawn

    def step(self: Optimiser, state: State, batch: Batch) -> State:
        after = step_of(self, state, batch)
        noises.append(tuple((np.asarray(after.parameters) - np.asarray(state.parameters)).tolist()))
        return after

    monkeypatch.setattr(Loader, "batch", batch)
    monkeypatch.setattr(Optimiser, "step", step)
    exec(small(BLOCKS[0]), names)
    assert len(rows) == len(set(rows)) == len(noises) == len(set(noises)) == 60
    assert min(np.abs(np.subtract(one, other)).max() for one in noises for other in noises if one != other) > 1e-4
    optimiser, state = names["optimiser"], names["state"]
    event = Repeat(PoissonGaussian(optimiser.noise_multiplier, 0.05), 60)
    expected = pld.epsilon(event, 1e-5 - CUT, "add-remove").upper
    printed = [float(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert printed == sorted(printed)
    assert printed[-1] == optimiser.epsilon(state) == expected
    assert 0.99 * 3 < expected <= 3


def test_the_other_blocks_run(names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    compiled, shared, kept = (small(block) for block in BLOCKS[1:])
    # The first block without its steps, so that there are some left.
    exec(small(BLOCKS[0]).partition("for epoch")[0], names)
    exec(compiled, names)
    assert int(names["state"].step) == len(names["loader"]) == 20
    exec(kept, names)
    assert int(names["state"].step) == 20
    exec(shared, names)
    assert int(names["state"].granted) == 5
    assert 0 < names["budget"].spent < 3
    assert (tmp_path / "budget.json").is_file()
