"""Events: validation, tallies and writing as plain values."""

import json
import math

import numpy as np
import pytest

from dpinfer.accounting.events import (
    Barker,
    Compose,
    Event,
    FullBarker,
    Gaussian,
    NonPrivate,
    Nothing,
    PoissonGaussian,
    Repeat,
    SubsetGaussian,
    from_dict,
    tally,
    to_dict,
)
from dpinfer.errors import InputError

EVERY: tuple[Event, ...] = (
    Gaussian(1.5),
    PoissonGaussian(1.0, 0.01),
    SubsetGaussian(2.0, 1.0),
    Barker(100, 10_000),
    FullBarker(0.1, 2.0),
    Nothing(),
    NonPrivate("clipped after the sum"),
    Repeat(PoissonGaussian(1.0, 0.01), 7),
    Compose((Gaussian(1.0), Repeat(Compose((Nothing(), Gaussian(2.0))), 3))),
)


@pytest.mark.parametrize("event", EVERY, ids=lambda event: type(event).__name__)
def test_events_survive_json(event: Event) -> None:
    written = json.dumps(to_dict(event), allow_nan=False)
    assert from_dict(json.loads(written)) == event
    assert hash(from_dict(json.loads(written))) == hash(event)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1", None, True])
def test_noise_multiplier_must_be_positive_and_finite(value: float) -> None:
    with pytest.raises(InputError, match="noise_multiplier"):
        Gaussian(value)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.0001, math.nan, "0.5", None])
@pytest.mark.parametrize("kind", [PoissonGaussian, SubsetGaussian])
def test_sampling_rate_must_lie_in_the_unit_interval(kind: type, value: float) -> None:
    with pytest.raises(InputError, match="sampling_rate"):
        kind(1.0, value)


@pytest.mark.parametrize("count", [-1, 1.5, "3", None, True])
def test_counts_must_be_whole(count: int) -> None:
    with pytest.raises(InputError, match="count"):
        Repeat(Gaussian(1.0), count)


def test_a_barker_batch_cannot_exceed_the_records() -> None:
    with pytest.raises(InputError, match="records"):
        Barker(11, 10)


def test_non_private_needs_a_reason() -> None:
    with pytest.raises(InputError, match="reason"):
        NonPrivate(" ")


def test_only_events_compose() -> None:
    with pytest.raises(InputError, match="event"):
        Compose((Gaussian(1.0), "Gaussian"))  # type: ignore[arg-type]


def test_numpy_numbers_become_plain_ones() -> None:
    event = Repeat(PoissonGaussian(np.float32(1.5), np.float64(0.5)), np.int64(3))  # type: ignore[arg-type]
    assert json.loads(json.dumps(to_dict(event)))["count"] == 3
    assert type(event.count) is int


def test_reading_refuses_unknown_kinds_and_fields() -> None:
    with pytest.raises(InputError, match="kind"):
        from_dict({"kind": "Laplace", "scale": 1.0})
    with pytest.raises(InputError, match="fields"):
        from_dict({"kind": "Gaussian", "noise_multiplier": 1.0, "clip": 2.0})


def test_tallies_do_not_depend_on_order_or_nesting() -> None:
    one, two = PoissonGaussian(1.0, 0.1), Gaussian(2.0)
    flat = Compose((Repeat(one, 6), two, Nothing()))
    nested = Compose((two, Repeat(Compose((Repeat(one, 2), Repeat(Nothing(), 5))), 3), Repeat(two, 0)))
    assert tally(flat) == tally(nested)
    assert dict(tally(flat)) == {one: 6, two: 1}
