"""The noise for a privacy target, by the names and the return values of d3p."""

from dpinfer.accounting import accountant, calibrate
from dpinfer.accounting.events import Adjacency, Event, Gaussian, Repeat
from dpinfer.sampling.by_name import SamplerName
from dpinfer.svi.mechanism_and_sampler import sampled


def approximate_sigma(
    target_eps: float, delta: float, q: float, num_iter: int, *, sampler: SamplerName = "subset"
) -> tuple[float, float, int]:
    """The least noise that keeps replacing one record (epsilon, delta)-private, never overspending.

    The default is sound for the batches of `subsample_batchify_data`, and so asks for a little more noise than
    d3p, which accounts for them as if each record were drawn by its own coin; for `poisson_batchify_data` say so.

    Args:
        target_eps: The target.
        delta: Its delta.
        q: Share of the records in a batch.
        num_iter: Number of steps.
        sampler: How batches are drawn.

    Returns:
        The noise as `dp_scale` of `DPSVI`, the epsilon it gives, and how many accounts were made to find it.
    """
    return _search(target_eps, delta, q, num_iter, sampler, "replace-one")


def approximate_sigma_remove_relation(
    target_eps: float, delta: float, q: float, num_iter: int, *, sampler: SamplerName = "subset"
) -> tuple[float, float, int]:
    """The same for adding or removing one record; see `approximate_sigma`."""
    return _search(target_eps, delta, q, num_iter, sampler, "add-remove")


def _search(
    target_eps: float, delta: float, q: float, num_iter: int, sampler: SamplerName, adjacency: Adjacency
) -> tuple[float, float, int]:
    tried = 0

    def event(noise_multiplier: float) -> Event:
        nonlocal tried
        tried += 1
        return Repeat(event=sampled(sampler, Gaussian(noise_multiplier=noise_multiplier), q), count=num_iter)

    sigma = calibrate.noise_multiplier(target_eps, delta, event, adjacency)
    accounts = tried
    return sigma, accountant("pld").epsilon(event(sigma), delta, adjacency).upper, accounts
