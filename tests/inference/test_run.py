import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.accounting.events import Nothing
from dpinfer.errors import InputError
from dpinfer.inference.base import Algorithm
from dpinfer.inference.run import Checkpoint, Chunk, _advance, _chunk, keys_for, run, run_seeds

WALK = Algorithm(
    init=lambda key, records: jax.random.normal(key) + records["x"].sum(),
    random=lambda key, state: jax.random.normal(key, jnp.shape(state)),
    update=lambda drawn, state, records: (0.9 * state + drawn, drawn),  # noqa: ARG005
    draw=lambda key, state: state,  # noqa: ARG005
    event=lambda num_steps: Nothing(),  # noqa: ARG005
)
RECORDS = {"x": jnp.ones(3)}
KEY = jax.random.key(3)


def test_steps_have_keys_of_their_own() -> None:
    expected = 3.0 + float(jax.random.normal(jax.random.fold_in(KEY, 0)))
    for step in range(1, 6):
        expected = 0.9 * expected + float(jax.random.normal(jax.random.fold_in(KEY, step)))
    assert np.isclose(float(run(WALK, KEY, RECORDS, 5).state), expected, atol=1e-5)


def test_seeds_run_together_are_the_seeds_run_alone() -> None:
    keys = keys_for(KEY, 3)
    together = run_seeds(WALK, keys, RECORDS, 12).state
    alone = [float(run(WALK, key, RECORDS, 12).state) for key in keys]
    np.testing.assert_allclose(together, alone, rtol=1e-5)
    assert len(set(alone)) == 3
    np.testing.assert_array_equal(jax.random.key_data(keys_for(KEY, 5)[:3]), jax.random.key_data(keys))


def test_a_recording_holds_what_was_asked_for_and_no_more() -> None:
    def record(state: Any, info: Any) -> dict[str, Any]:
        return {"state": state, "drawn": info}

    done = run_seeds(WALK, keys_for(KEY, 2), RECORDS, 60, record=record, record_every=20)
    assert done.trace["state"].shape == (2, 3)
    np.testing.assert_array_equal(done.trace["state"][:, -1], done.state)
    shorter = run_seeds(WALK, keys_for(KEY, 2), RECORDS, 40).state
    np.testing.assert_array_equal(done.trace["state"][:, 1], shorter)
    last = jax.random.normal(jax.random.fold_in(keys_for(KEY, 2)[0], 20))
    assert done.trace["drawn"][0, 0] == last


class Killed(Checkpoint):
    """A checkpoint after whose second write the process dies."""

    writes = 0

    def write(self, done: int, states: Any, traces: Any) -> None:
        super().write(done, states, traces)
        self.writes += 1
        if self.writes == 2:
            raise KeyboardInterrupt


def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(tmp_path: Path) -> None:
    keys = keys_for(KEY, 3)
    options: dict[str, Any] = {"record": lambda state, info: (state, info), "record_every": 10}
    whole = run_seeds(WALK, keys, RECORDS, 1000, **options)
    path = tmp_path / "checkpoint.npz"
    with pytest.raises(KeyboardInterrupt):
        run_seeds(WALK, keys, RECORDS, 1000, checkpoint=Killed(path, "same", seconds=0), **options)
    again = run_seeds(WALK, keys, RECORDS, 1000, checkpoint=Checkpoint(path, "same"), **options)
    jax.tree.map(np.testing.assert_array_equal, tuple(again), tuple(whole))


def test_a_checkpoint_of_another_run_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    with pytest.raises(KeyboardInterrupt):
        run_seeds(WALK, keys_for(KEY, 2), RECORDS, 100, checkpoint=Killed(path, "one", seconds=0))
    other = run_seeds(WALK, keys_for(jax.random.key(8), 2), RECORDS, 100, checkpoint=Checkpoint(path, "two"))
    np.testing.assert_array_equal(other.state, run_seeds(WALK, keys_for(jax.random.key(8), 2), RECORDS, 100).state)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_steps": 0}, "the number of steps is 0, but should be a positive multiple of 1"),
        (
            {"num_steps": 10, "record": max, "record_every": 3},
            "the number of steps is 10, but should be",
        ),
        ({"num_steps": 10, "record": max}, "record and record_every should be given together"),
    ],
)
def test_impossible_runs_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        run_seeds(WALK, keys_for(KEY, 1), RECORDS, **options)


SHARDED = """
import jax, jax.numpy as jnp, numpy as np, sys
sys.path.insert(0, sys.argv[1])
from test_run import KEY, RECORDS, WALK
from dpinfer.inference.run import keys_for, run_seeds
assert len(jax.devices()) == int(sys.argv[2])
done = run_seeds(WALK, keys_for(KEY, 6), RECORDS, 50, record=lambda s, i: s, record_every=10)
np.savez(sys.argv[3], state=done.state, trace=done.trace)
"""


def test_four_devices_give_what_one_gives(tmp_path: Path) -> None:
    found = []
    for devices in (1, 4):
        flags = {"JAX_NUM_CPU_DEVICES": str(devices), "JAX_PLATFORMS": "cpu"}
        path = tmp_path / f"{devices}.npz"
        arguments = [str(Path(__file__).parent), str(devices), str(path)]
        subprocess.run([sys.executable, "-c", SHARDED, *arguments], check=True, env={**os.environ, **flags})
        with np.load(path) as stored:
            found.append({name: stored[name] for name in stored.files})
    for name in ("state", "trace"):
        np.testing.assert_array_equal(found[0][name], found[1][name])


def test_memory_does_not_grow_with_the_number_of_steps() -> None:
    def needed(length: int) -> int:
        plan = Chunk(WALK, length, length, None, 1)
        program = jax.jit(partial(_advance, plan)).lower((KEY, jnp.zeros(())), RECORDS, jnp.asarray(0)).compile()
        needs: Any = program.memory_analysis()
        return int(needs.temp_size_in_bytes)

    assert needed(1280) == needed(1_280_000)


def test_a_prime_number_of_steps_is_taken_in_large_chunks() -> None:
    assert _chunk(100_000, 1) == 2000
    assert _chunk(100_003, 1) == 1920
    short = run(WALK, KEY, RECORDS, 7919).state
    steps = run(WALK, KEY, RECORDS, 7919, record=lambda state, info: state, record_every=7919)  # noqa: ARG005
    np.testing.assert_allclose(short, steps.trace[-1], rtol=1e-5)


def test_the_bar_shows_steps_rate_time_left_and_what_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    noted: list[int] = []

    def note(done: int) -> str:
        noted.append(done)
        return f"epsilon <= {done}"

    run(WALK, KEY, RECORDS, 100, progress=True, note=note)
    last = capsys.readouterr().err.split("\r")[-1]
    assert re.search(r"100/100 \[\d\d:\d\d<00:00, +[\d.]+step/s, epsilon <= 100\]", last)
    assert noted[-1] == 100
    assert len(noted) > 10
