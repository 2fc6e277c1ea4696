"""Steps that are compiled, scanned, mapped, repeated or gone back from: noise never repeats, steps count."""

import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from dpinfer.accounting.events import CUT, PoissonGaussian, Repeat
from dpinfer.accounting.sound import rdp
from dpinfer.errors import InputError
from dpinfer.random.keys import digest
from dpinfer.training import Loader, Optimiser, State, dpsgd, private
from dpinfer.types import Tree
from loops import BARE, PARAMETERS, SETTINGS, STEPS, X, flat, loss, nothing, run, same, step

OTHER_RECORDS = (np.flip(X, 0),)


def noise(optimiser: Optimiser, before: State, after: State) -> np.ndarray:
    """What a step of rate 1 without gradients has added."""
    del optimiser
    return flat(after) - flat(before)


def start(optimiser: Optimiser, seed: int = 0) -> State:
    return optimiser.init(PARAMETERS, jax.random.key(seed))


def test_a_compiled_step_has_fresh_noise_and_counts() -> None:
    optimiser = dpsgd(nothing, 1.0, **SETTINGS)
    loader, compiled = Loader(optimiser, (X,)), jax.jit(optimiser.step)
    state, moves = start(optimiser), []
    for _ in range(STEPS):
        after = compiled(state, loader.batch(state))
        moves.append(noise(optimiser, state, after))
        state = after
    assert np.std(moves, axis=0).min() > 0.3 * 1.3 * 0.5 / 20
    assert len({tuple(move) for move in moves}) == STEPS
    assert int(state.step) == STEPS
    event = Repeat(event=PoissonGaussian(noise_multiplier=1.3, sampling_rate=0.1), count=STEPS)
    assert optimiser.epsilon(state) == rdp.epsilon(event, 1e-5 - CUT, "add-remove").upper


@pytest.mark.parametrize("plain", [optax.sgd(0.1), optax.adam(0.1), optax.sgd(0.1, momentum=0.9)])
def test_steps_are_the_same_one_by_one_compiled_and_scanned(plain: Any) -> None:
    optimiser = private(plain, loss, **SETTINGS)
    loader = Loader(optimiser, (X,))
    single = run(optimiser, start(optimiser), STEPS, loader)
    compiled = jax.jit(lambda state: step(optimiser, state, loader))
    one_by_one = start(optimiser)
    for _ in range(STEPS):
        one_by_one = compiled(one_by_one)
    scanned = jax.lax.scan(lambda own, _: (step(optimiser, own, loader), None), start(optimiser), length=STEPS)[0]
    passed = jax.jit(lambda own, given: run(optimiser, own, STEPS, given))(start(optimiser), loader)
    assert same(single, one_by_one)
    assert same(single, scanned)
    assert same(single, passed)


def test_the_records_of_a_loader_that_is_passed_on_are_no_part_of_the_program() -> None:
    optimiser = dpsgd(loss, 0.1, **SETTINGS)
    marked = np.full((200, 3), 1234.5, np.float32)
    program = jax.jit(lambda own, given: step(optimiser, own, given))
    text = program.lower(start(optimiser), Loader(optimiser, (marked,))).as_text()
    assert "1234.5" not in text
    assert "1.234500e+03" not in text


def test_a_step_taken_twice_from_one_state_is_the_same_release() -> None:
    optimiser = dpsgd(loss, 1.0, **SETTINGS)
    state = start(optimiser)
    assert same(step(optimiser, state), step(optimiser, state))


def first_noise(optimiser: Optimiser, state: State, records: Tree = (X,)) -> np.ndarray:
    return noise(optimiser, state, step(optimiser, state, Loader(optimiser, records)))


@pytest.mark.parametrize("what", ["parameters", "signs", "step", "loss", "constant", "clip", "records", "batch"])
def test_noise_is_another_wherever_the_sum_may_be_another(what: str) -> None:
    """With one key: what is added to two sums that differ must differ, or their difference would be bare."""
    weight = jnp.ones(3)

    def weighed(parameters: Tree, record: Tree) -> jax.Array:
        return nothing(parameters, record) + 0.0 * weight.sum()

    optimiser = dpsgd(weighed, 1.0, **SETTINGS)
    other, state = optimiser, start(optimiser)
    changed, records = state, (X,)
    if what == "parameters":
        changed = state._replace(parameters={**PARAMETERS, "b": jnp.nextafter(jnp.float32(0.5), 1.0)})
    elif what == "signs":
        changed = state._replace(parameters=jax.tree.map(jnp.negative, PARAMETERS))
    elif what == "step":
        changed = state._replace(step=jnp.int32(1))
    elif what == "loss":
        other = dpsgd(lambda parameters, record: 0.0 * jnp.sin(loss(parameters, record)), 1.0, **SETTINGS)
        changed = start(other)
    elif what == "constant":
        first = first_noise(optimiser, state)
        weight = 2 * weight
        assert not np.isclose(first, first_noise(dpsgd(weighed, 1.0, **SETTINGS), state)).any()
        return
    elif what == "clip":
        other = dpsgd(weighed, 1.0, **SETTINGS | {"clip": 0.5000001})
        changed = start(other)
    elif what == "records":
        records = OTHER_RECORDS
    batch = Loader(optimiser, (X,)).batch(state)
    if what == "batch":
        moved = (batch.records[0] + 1,)
        shifted = optimiser.step(state, batch._replace(records=moved))
        assert not np.isclose(noise(optimiser, state, shifted), first_noise(optimiser, state)).any()
        return
    assert not np.isclose(first_noise(optimiser, state), first_noise(other, changed, records)).any()


def test_a_rewound_run_with_another_rate_has_other_batches_and_noise() -> None:
    slow, fast = (dpsgd(loss, rate, **SETTINGS) for rate in (0.1, 0.2))
    early = step(slow, start(slow))
    ways = [step(own, early) for own in (slow, fast)]
    rows = [np.asarray(Loader(slow, (np.arange(200),)).batch(state).records[0]) for state in ways]
    assert rows[0].tolist() != rows[1].tolist()


def test_mapped_runs_are_all_accounted_for_and_differ() -> None:
    optimiser = dpsgd(loss, 0.1, **SETTINGS)
    loader = Loader(optimiser, (X,))
    states = jax.vmap(lambda key: optimiser.init(PARAMETERS, key))(jax.random.split(jax.random.key(0), 3))
    for _ in range(4):
        states = jax.vmap(lambda own: step(optimiser, own, loader))(states)
    assert states.step.tolist() == [4, 4, 4]
    assert len(np.unique(np.asarray(states.parameters["b"]))) == 3
    event = Repeat(event=PoissonGaussian(noise_multiplier=1.3, sampling_rate=0.1), count=12)
    assert optimiser.epsilon(states) == rdp.epsilon(event, 1e-5 - 3 * CUT, "add-remove").upper
    assert len(optimiser.ledger(states).entries) == 3
    one = jax.tree.map(lambda leaf: leaf[1], states)
    assert same(one, run(optimiser, optimiser.init(PARAMETERS, jax.random.split(jax.random.key(0), 3)[1]), 4))
    with pytest.raises(InputError, match=r"the state is of 3 runs: take their steps under jax\.vmap"):
        step(optimiser, states, loader)


def test_runs_that_share_a_key_but_not_their_parameters_share_no_batch() -> None:
    optimiser = dpsgd(loss, 0.1, **SETTINGS)
    loader, state = Loader(optimiser, (jnp.arange(200),)), start(optimiser)
    several = {"w": jnp.eye(3), "b": jnp.ones(3)}
    drawn = jax.vmap(lambda own: loader.batch(state._replace(parameters=own)))(several)
    assert len({tuple(np.asarray(rows)) for rows in drawn.records[0]}) == 3


@pytest.mark.parametrize("compiled", [False, True])
def test_a_batch_of_another_step_or_state_is_refused(compiled: bool) -> None:
    optimiser = dpsgd(loss, 0.1, **SETTINGS)
    first = start(optimiser)
    later = step(optimiser, first)
    mine = Loader(optimiser, (X,)).batch(later)
    cases = [
        (Loader(optimiser, (X,)).batch(first), "the batch was drawn for step 0, but the state is at step 1"),
        (mine._replace(tag=mine.tag + 1), "the batch was drawn for another state"),
        (
            Loader(optimiser, (X,)).batch(step(optimiser, start(optimiser, 1))),
            "the batch was drawn for another state",
        ),
    ]
    for batch, reason in cases:
        if compiled:
            assert same(jax.jit(optimiser.step)(later, batch), later)
        else:
            with pytest.raises(InputError, match=reason):
                optimiser.step(later, batch)


def test_a_state_of_other_settings_is_refused() -> None:
    cheap, dear = (dpsgd(loss, 0.1, **BARE, noise_multiplier=noise) for noise in (9.0, 0.1))
    state = start(cheap)
    with pytest.raises(InputError, match="the state is of an optimiser with other settings"):
        step(dear, state)
    assert same(jax.jit(lambda own: step(dear, own))(state), state)


def test_digests_tell_bits_and_places_apart() -> None:
    trees: list[Tree] = [
        jnp.zeros(4), jnp.zeros(5), -jnp.zeros(4), jnp.ones(4), -jnp.ones(4), jnp.array([1.0, -1.0, -1.0, 1.0]),
        jnp.array([-1.0, 1.0, 1.0, -1.0]), jnp.array([1.0, 2.0, 3.0, 4.0]), jnp.array([2.0, 1.0, 3.0, 4.0]),
        jnp.array([True, False]), jnp.array([False, True]), jnp.ones(4, jnp.bfloat16), jnp.ones(4, jnp.int8),
        jax.random.key(2), jax.random.key(3), {"a": jnp.ones(2), "b": jnp.zeros(2)},
        {"a": jnp.zeros(2), "b": jnp.ones(2)}, jnp.full(1 << 16, 2.0), jnp.full(1 << 16, 3.0),
    ]  # fmt: skip
    found = np.array([digest(tree) for tree in trees])
    for lane in found.T:
        assert len(set(lane.tolist())) == len(trees)
    flips = np.array([digest(jnp.ones(4096).at[place].multiply(-1)) for place in range(0, 4096, 64)])
    assert len(np.unique(flips[:, 0])) == len(np.unique(flips[:, 1])) == len(flips)


WIDE = """
import jax, jax.numpy as jnp
from dpinfer.training import Loader, dpadam
from loops import PARAMETERS, SETTINGS, X, loss, run, same, step
optimiser = dpadam(loss, 0.1, **SETTINGS, num_steps=6)
for kind in (jnp.float32, jnp.float64):
    start = optimiser.init(jax.tree.map(lambda leaf: leaf.astype(kind), PARAMETERS), jax.random.key(0))
    loader = Loader(optimiser, (X,))
    eager = run(optimiser, start, 6, loader)
    scanned = jax.lax.scan(lambda own, _: (step(optimiser, own, loader), None), start, length=9)[0]
    assert same(eager, scanned)
    for one, other in zip(jax.tree.leaves(start), jax.tree.leaves(eager), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape, (one, other)
    assert (eager.step.dtype, eager.granted.dtype, int(eager.step)) == (jnp.int32, jnp.int32, 6)
    assert eager.parameters["w"].dtype == kind
"""


def test_counters_and_types_hold_with_numbers_of_64_bits() -> None:
    environment = {"JAX_ENABLE_X64": "1", "PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", WIDE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
