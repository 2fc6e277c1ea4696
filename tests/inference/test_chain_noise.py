"""Chains with Barker tests take no noise but that which their event states."""

import math
from typing import Any

import pytest

from dpinfer.accounting.events import NonPrivate, Repeat
from dpinfer.errors import InputError
from dpinfer.inference import dpmcmc
from dpinfer.inference.base import Algorithm
from dpinfer.models import two_modes

N = 400


def on_batches(noise_multiplier: float | None, **changes: Any) -> Algorithm:
    return dpmcmc.minibatch(
        two_modes.build(), noise_multiplier, None, N, batch=50, proposal_variance=0.04, **changes
    )


@pytest.mark.parametrize("noise_multiplier", [1e-3, 7.0, 0.0, -1.0, math.inf, math.nan])
def test_no_noise_is_taken_that_the_event_of_a_test_on_batches_does_not_state(noise_multiplier: float) -> None:
    for is_private in (True, False):
        with pytest.raises(InputError, match=f"noise_multiplier is {noise_multiplier}, but these settings allow"):
            on_batches(noise_multiplier, is_private=is_private)


def test_no_variance_is_taken_that_theorem_2_is_not_for() -> None:
    with pytest.raises(InputError, match="noise_variance is 1, but a private test on batches needs 2"):
        on_batches(math.sqrt(50), noise_variance=1.0)


def test_without_noise_a_test_promises_nothing() -> None:
    event = on_batches(None).event(3)
    assert isinstance(event, Repeat)
    assert isinstance(event.event, NonPrivate)


@pytest.mark.parametrize("noise_multiplier", [0.0, -1.0, math.inf, math.nan])
def test_noise_of_a_test_on_all_records_is_a_positive_number(noise_multiplier: float) -> None:
    with pytest.raises(InputError, match="but should be above 0"):
        dpmcmc.full_batch(two_modes.build(), noise_multiplier, None, N, proposal_variance=0.04)
