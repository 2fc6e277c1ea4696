"""The noise that a privacy target needs, as a function of the sampling rate."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from dpinfer.accounting.calibrate import noise_multiplier
from dpinfer.accounting.events import PoissonGaussian, Repeat
from pipeline.settings.study import Noise
from pipeline.studies import Row


def rows(settings: Noise) -> Iterator[Row]:
    """The noise multiplier, and its ratio to the sampling rate, relative to that of the largest rate.

    The signal of a step grows with the sampling rate: a constant ratio is a constant signal-to-noise ratio.
    """
    options: dict[str, Any] = dict(settings.options)
    found = {
        rate: noise_multiplier(
            settings.epsilon,
            settings.delta,
            partial(_event, settings, rate),
            "add-remove",
            settings.accountant,
            **options,
        )
        for rate in settings.sampling_rates
    }
    reference = found[max(found)] / max(found)
    for rate, noise in found.items():
        yield {"sampling_rate": rate, "metric": "noise_multiplier", "value": noise}
        yield {"sampling_rate": rate, "metric": "noise_over_rate", "value": noise / rate / reference}


def _event(settings: Noise, rate: float, noise: float) -> Repeat:
    return Repeat(event=PoissonGaussian(noise_multiplier=noise, sampling_rate=rate), count=settings.num_steps)
