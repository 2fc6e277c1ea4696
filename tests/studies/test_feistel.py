"""The study of the Feistel sampler, against the geometric law and inclusion probabilities known from elsewhere."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from dpinfer.sampling.feistel import ROUNDS, permute
from pipeline import registry
from pipeline.settings.study import Feistel
from pipeline.studies import Row
from pipeline.studies.feistel import LIMITS, draw, geometric, noise_band, tabulate

KEYS = 2000
WORST = 32769


def walks(records: int = WORST, batch: int = 128, keys: int = KEYS, seed: int = 0) -> Feistel:
    return Feistel(measure="walks", records=records, batch=batch, keys=keys, seed=seed)


def inclusion(records: int = 500, batch: int = 50, keys: int = KEYS) -> Feistel:
    return Feistel(measure="inclusion", records=records, batch=batch, keys=keys)


def value(rows: list[Row], metric: str, **where: Any) -> float:
    found = [row["value"] for row in rows if {"metric": metric, **where}.items() <= row.items()]
    assert len(found) == 1
    return float(found[0])


@pytest.mark.parametrize(("records", "mean"), [(WORST, 1.9999), (50_000, 1.3107), (60_000, 1.0923)])
def test_the_mean_is_the_inverse_of_p(records: int, mean: float) -> None:
    rows = list(registry.study_rows(walks(records)))
    assert value(rows, "mean", source="predicted") == pytest.approx(mean, abs=1e-4)
    assert value(rows, "mean", source="simulated") == pytest.approx(mean, abs=0.015)


def test_the_worst_case_of_one_index_and_of_a_batch() -> None:
    rows = list(registry.study_rows(walks()))
    for source, tolerance in (("predicted", 5e-4), ("simulated", 3e-3)):
        known = {5: 0.9688, 6: 0.9844, 7: 0.9922}
        found = {limit: value(rows, "within", source=source, applications=limit) for limit in known}
        assert found == pytest.approx(known, abs=tolerance)
    for source, tolerance in (("predicted", 5e-3), ("simulated", 0.05)):
        assert value(rows, "batch_within", source=source, applications=7) == pytest.approx(0.37, abs=tolerance)
        assert value(rows, "batch_mean", source=source) == pytest.approx(8.34, abs=2 * tolerance)
    assert value(rows, "distance") < 0.01


def test_the_geometric_law_is_that_of_independent_draws() -> None:
    drawn = tabulate(np.random.default_rng(0).geometric(0.3, (20_000, 16)))
    law = geometric(0.3, 16)
    assert drawn.mean == pytest.approx(law.mean, rel=0.01)
    assert drawn.batch_mean == pytest.approx(law.batch_mean, rel=0.01)
    np.testing.assert_allclose(drawn.within, law.within, atol=0.01)
    np.testing.assert_allclose(drawn.batch_within, law.batch_within, atol=0.015)


def test_a_full_domain_takes_one_application() -> None:
    assert (draw(walks(records=1024, keys=10))[1] == 1).all()
    law = geometric(1.0, 128)
    assert (law.mean, law.batch_mean) == (1, 1)
    assert (law.within == 1).all()
    assert len(law.within) == len(LIMITS)


def test_evaluations_stay_below_a_shuffle_unless_the_batch_waits_for_its_last_index() -> None:
    records, batch = 2**20 + 1, 149_796
    rows = list(registry.study_rows(walks(records, batch, keys=3)))
    most, seven, shuffle = (value(rows, name) for name in ("evaluations_most", "seven_batches", "shuffle"))
    assert value(rows, "evaluations", source="simulated") <= most < seven < 1 < shuffle
    assert (seven * records, shuffle * records) == pytest.approx((7 * batch, 2**21))
    for source in ("simulated", "predicted"):
        assert value(rows, "evaluations_lockstep", source=source) > shuffle


@pytest.mark.parametrize(("records", "batch", "least", "most"), [(500, 50, 0.054, 0.148), (100, 10, 0.01, 0.17)])
def test_only_keys_for_every_round_include_evenly(records: int, batch: int, least: float, most: float) -> None:
    rows = list(registry.study_rows(inclusion(records, batch)))
    assert value(rows, "least", sampler="small_seed") == pytest.approx(least)
    assert value(rows, "most", sampler="small_seed") == pytest.approx(most)
    assert value(rows, "outside", sampler="small_seed") > 0
    assert value(rows, "outside", sampler="round_keys") == 0
    assert value(rows, "band_low") < 0.1 < value(rows, "band_high")


def test_inclusion_is_sorted_and_adds_up_to_the_batch() -> None:
    rows = list(registry.study_rows(inclusion(100, 10, keys=200)))
    for sampler in ("round_keys", "small_seed"):
        found = [row for row in rows if row["metric"] == "inclusion" and row["sampler"] == sampler]
        values = [row["value"] for row in found]
        assert [row["rank"] for row in found] == list(range(1, 101))
        assert values == sorted(values)
        assert sum(values) == pytest.approx(10)


def test_four_times_the_keys_halve_the_noise() -> None:
    widths = [high - low for low, high in (noise_band(inclusion(100, 10, keys)) for keys in (500, 2000))]
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.1)


def test_the_batches_are_those_of_the_sampler() -> None:
    settings = inclusion(100, 10, keys=5)
    keys = np.random.default_rng(settings.seed).integers(0, 2**32, (5, ROUNDS), dtype=np.uint32)
    expected = [permute(jnp.asarray(key), jnp.arange(10), 100) for key in keys]
    np.testing.assert_array_equal(draw(settings)[0], np.array(expected))


def test_the_seed_decides() -> None:
    first, again, other = (draw(walks(keys=20, seed=seed))[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_a_batch_larger_than_the_data_is_refused() -> None:
    with pytest.raises(ValueError, match="batch is 11, but should be at most the number of records, 10"):
        walks(records=10, batch=11)
