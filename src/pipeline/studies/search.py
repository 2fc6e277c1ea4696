"""What a continuous search over Renyi orders gains over the grid of 72 orders."""

from collections.abc import Iterator
from itertools import product

from dpinfer.accounting.events import PoissonGaussian, Repeat
from dpinfer.accounting.sound import rdp
from pipeline.settings.study import Search
from pipeline.studies import Row


def rows(settings: Search) -> Iterator[Row]:
    """Both epsilons and the relative gain at each combination of the settings."""
    for rate, noise, steps in product(settings.sampling_rates, settings.noise_multipliers, settings.num_steps):
        event = Repeat(event=PoissonGaussian(noise_multiplier=noise, sampling_rate=rate), count=steps)
        by_grid, by_search = (
            rdp.epsilon(event, settings.delta, "add-remove", orders=orders, conversion="classic").upper
            for orders in ("grid", "ternary")
        )
        where = {"sampling_rate": rate, "noise_multiplier": noise, "num_steps": steps}
        for metric, value in (("grid", by_grid), ("ternary", by_search), ("gain", 1 - by_search / by_grid)):
            yield {**where, "metric": metric, "value": value}
