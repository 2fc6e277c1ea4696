"""Checkpoints of training: a run goes on bit for bit, its account included, and nothing is paid twice."""

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from dpinfer.accounting.budget import Budget
from dpinfer.accounting.ledger import BudgetExceededError
from dpinfer.errors import InputError
from dpinfer.random.chacha import CHACHA20
from dpinfer.training import Optimiser, State, dpadam, dpsgd, private
from loops import BARE, PARAMETERS, SETTINGS, STEPS, bits, loss, run, same

ELSEWHERE = """
import sys, jax, numpy as np
from dpinfer.training import dpadam
from loops import BARE, PARAMETERS, STEPS, bits, loss, run
optimiser = dpadam(loss, 0.1, **BARE, epsilon=2.0, num_steps=STEPS)
state = optimiser.load(sys.argv[1], jax.tree.map(lambda leaf: 0 * leaf, PARAMETERS))
spent = optimiser.budget.spent
before = optimiser.epsilon(state)
state = run(optimiser, state, STEPS - int(state.step))
np.savez(sys.argv[2], *bits(state), account=[spent, before, optimiser.epsilon(state)])
"""


def start(optimiser: Optimiser, seed: int = 0) -> State:
    return optimiser.init(PARAMETERS, jax.random.key(seed))


def test_a_run_goes_on_in_the_same_process(tmp_path: Path) -> None:
    optimiser = dpadam(loss, 0.1, **BARE, epsilon=2.0, num_steps=STEPS)
    middle = run(optimiser, start(optimiser), 5)
    optimiser.save(tmp_path / "run.npz", middle)
    assert optimiser.budget is not None
    spent = optimiser.budget.spent
    loaded = optimiser.load(str(tmp_path / "run.npz"), PARAMETERS)
    assert same(loaded, middle)
    jax.tree.map(lambda *_: None, loaded, middle)
    assert same(run(optimiser, loaded, STEPS - 5), run(optimiser, middle, STEPS - 5))
    assert (optimiser.budget.spent, len(optimiser.budget.ledger.entries)) == (spent, 1)
    assert stat.S_IMODE((tmp_path / "run.npz").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


def test_a_run_goes_on_in_another_process_with_its_account(tmp_path: Path) -> None:
    optimiser = dpadam(loss, 0.1, **BARE, epsilon=2.0, num_steps=STEPS)
    middle = run(optimiser, start(optimiser), 5)
    optimiser.save(tmp_path / "run.npz", middle)
    environment = {"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"}
    files = [str(tmp_path / name) for name in ("run.npz", "end.npz")]
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, *files], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    last = run(optimiser, middle, STEPS - 5)
    assert optimiser.budget is not None
    with np.load(files[1]) as end:
        for place, leaf in enumerate(bits(last)):
            assert end[f"arr_{place}"].tobytes() == leaf.tobytes()
        account = [optimiser.budget.spent, optimiser.epsilon(middle), optimiser.epsilon(last)]
        assert end["account"].tolist() == account


def test_loading_charges_a_budget_that_does_not_know_of_the_run_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "budget.json"
    settings: dict[str, Any] = {**SETTINGS, "num_steps": 5}
    first = dpsgd(loss, 0.1, **settings, budget=Budget(1.6, 1e-5, path=path))
    first.save(tmp_path / "run.npz", start(first))
    again = Budget(1.6, 1e-5, path=path)
    dpsgd(loss, 0.1, **settings, budget=again).load(tmp_path / "run.npz", PARAMETERS)
    assert len(again.ledger.entries) == 1
    fresh = dpsgd(loss, 0.1, **settings, budget=1.6)
    for _ in range(2):
        fresh.load(tmp_path / "run.npz", PARAMETERS)
    assert fresh.budget is not None
    assert len(fresh.budget.ledger.entries) == 1
    with pytest.raises(BudgetExceededError, match=r"the budget is 0\.1"):
        dpsgd(loss, 0.1, **settings, budget=0.1).load(tmp_path / "run.npz", PARAMETERS)


@pytest.mark.parametrize(
    "plain",
    [
        optax.sgd(0.1),
        optax.adamw(0.1, mu_dtype=jnp.bfloat16),
        optax.MultiSteps(optax.sgd(0.1), 2),
        optax.add_noise(0.1, 0.1, jax.random.key(5)),
    ],
)
def test_any_memory_and_key_survive(tmp_path: Path, plain: Any) -> None:
    optimiser = private(plain, loss, **SETTINGS)
    state = run(optimiser, optimiser.init(PARAMETERS, jax.random.key(3, impl=CHACHA20)), 2)
    optimiser.save(tmp_path / "run.npz", state)
    loaded = optimiser.load(tmp_path / "run.npz", PARAMETERS)
    assert str(jax.random.key_impl(loaded.key)) == "ChaCha20"
    plain_of = [
        [np.asarray(jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf)
         for leaf in jax.tree.leaves(own)] for own in (state, loaded)
    ]  # fmt: skip
    for one, other in zip(*plain_of, strict=True):
        assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())
    step = run(optimiser, loaded, 1)
    assert int(step.step) == 3


def test_states_of_several_runs_survive(tmp_path: Path) -> None:
    optimiser = dpadam(loss, 0.1, **BARE, noise_multiplier=3.0, num_steps=4, budget=3.0)
    states = jax.tree.map(lambda *leaves: jnp.stack(leaves), start(optimiser), start(optimiser, 1))
    optimiser.save(tmp_path / "runs.npz", states)
    assert same(optimiser.load(tmp_path / "runs.npz", PARAMETERS), states)
    assert optimiser.budget is not None
    assert len(optimiser.budget.ledger.entries) == 2


def test_files_of_others_and_spoilt_ones_are_refused(tmp_path: Path) -> None:
    path, optimiser = tmp_path / "run.npz", dpsgd(loss, 0.1, **SETTINGS)
    optimiser.save(path, start(optimiser))

    def refused(by: Optimiser, parameters: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            by.load(path, parameters)

    for name, value in (("clip", 0.25), ("noise_multiplier", 1.0), ("delta", 1e-6), ("sampler", "subset")):
        refused(dpsgd(loss, 0.1, **SETTINGS | {name: value}), PARAMETERS, "is of an optimiser with other settings")
    refused(dpsgd(loss, 0.1, **SETTINGS | {"clip": 0.25}), PARAMETERS, r"clip is 0\.5 there, 0\.25 here")
    refused(dpadam(loss, 0.1, **SETTINGS), PARAMETERS, "holds 0 arrays of memory, but 5 are expected")
    refused(optimiser, {**PARAMETERS, "w": jnp.zeros(4)}, r"shape \(3,\) with 32 bits .* \(4,\) with 32 bits")
    refused(optimiser, jnp.zeros(4), "holds 2 arrays of parameters, but 1 are expected")
    whole = path.read_bytes()
    for spoilt in (whole[:-40], b"", b"nothing", whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]):
        path.write_bytes(spoilt)
        refused(optimiser, PARAMETERS, "cannot be read as a checkpoint of training")
    path.unlink()
    refused(optimiser, PARAMETERS, "cannot be read as a checkpoint of training")
    np.savez(path, about=np.zeros(3))
    refused(optimiser, PARAMETERS, "cannot be read as a checkpoint of training")


def test_a_state_is_saved_outside_of_programs_alone(tmp_path: Path) -> None:
    optimiser = dpsgd(loss, 0.1, **SETTINGS)
    with pytest.raises(InputError, match="outside of jit"):
        jax.jit(lambda own: optimiser.save(tmp_path / "run.npz", own))(start(optimiser))
    assert not list(tmp_path.iterdir())
