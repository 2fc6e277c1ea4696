"""DP-VI on NumPyro models, by the names that users of NumPyro's `SVI` and of d3p know."""

from dpinfer.svi.batches import poisson_batchify_data, split_batchify_data, subsample_batchify_data
from dpinfer.svi.dpsvi import DPSVI
from dpinfer.svi.sigma import approximate_sigma, approximate_sigma_remove_relation

__all__ = [
    "DPSVI",
    "approximate_sigma",
    "approximate_sigma_remove_relation",
    "poisson_batchify_data",
    "split_batchify_data",
    "subsample_batchify_data",
]
