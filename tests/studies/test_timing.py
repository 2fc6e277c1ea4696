import time
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from pipeline import registry
from pipeline.settings.model import Vae
from pipeline.settings.study import TimeClients, TimeNetwork, TimeSampling, TimeSteps
from pipeline.studies import timing


def test_programs_run_in_turns_after_a_first_call_that_does_not_count() -> None:
    calls: list[str] = []

    def program(name: str) -> timing.Program:
        return lambda: calls.append(name) or jnp.zeros(())  # type: ignore[func-returns-value]

    times = timing.seconds({"a": program("a"), "b": program("b")}, rounds=3)
    assert calls == ["a", "b"] * 4
    assert {name: values.shape for name, values in times.items()} == {"a": (3,), "b": (3,)}


def test_times_are_those_that_passed() -> None:
    times = timing.seconds({"quick": lambda: time.sleep(0.001), "slow": lambda: time.sleep(0.05)}, rounds=3)
    assert (times["slow"] >= 0.05).all()
    assert (times["quick"] >= 0.001).all()


def test_rows_hold_quartiles_and_the_median_of_ratios() -> None:
    times = {"base": np.array([1.0, 2.0, 4.0]), "other": np.array([2.0, 4.0, 4.0])}
    rows = {(row["program"], row["metric"]): row["value"] for row in timing.summary(times, "base", "seconds")}
    assert rows["base", "seconds"] == 2.0
    assert rows["other", "seconds_low"] == 3.0
    assert rows["other", "ratio"] == 2.0
    assert rows["base", "ratio"] == 1.0


@pytest.mark.parametrize("builtin", [True, False])
def test_every_sampler_is_timed(builtin: bool) -> None:
    settings = TimeSampling(records=500, batch=10, draws=20, builtin=builtin, rounds=1)
    rows = [row for row in registry.study_rows(settings) if row["metric"] == "microseconds"]
    others = {"choice", "bernoulli"} if builtin else set()
    assert {row["program"] for row in rows} == {"poisson", "subset"} | others
    assert all(row["value"] > 0 for row in rows)


def test_steps_and_a_whole_run_are_timed() -> None:
    settings = TimeSteps(records=50, expected_batch=5, num_steps=100, seeds=2, loop_steps=3, rounds=1)
    rows = list(registry.study_rows(settings))
    assert {row["program"] for row in rows} == {"seeds", "seed", "loop", "run"}
    assert next(row["value"] for row in rows if row["metric"] == "seconds") > 0


def test_few_and_many_clients_are_timed_on_the_same_records() -> None:
    settings = TimeClients(records=12, rate=0.5, few=2, many=3, local_steps=1, num_rounds=1, rounds=1)
    rows = [row for row in registry.study_rows(settings) if row["metric"] == "milliseconds"]
    assert {row["program"] for row in rows} == {"few", "many", "turns"}
    assert all(row["value"] > 0 for row in rows)


def test_ways_to_step_are_timed() -> None:
    ways: Any = ("exact", "choice", "single", "numpyro")
    network = Vae(image=(4, 4), latent=2, hidden=4)
    settings = TimeNetwork(network=network, records=50, batch=5, programs=ways, steps=1, slow_steps=1, rounds=1)
    rows = [row for row in registry.study_rows(settings) if row["metric"] == "ratio"]
    assert [row["program"] for row in rows] == list(ways)
    assert all(row["value"] > 0 for row in rows)


def test_ratios_are_to_the_step_without_privacy() -> None:
    with pytest.raises(ValueError, match="programs should contain exact"):
        TimeNetwork(network=Vae(), programs=("private",))
