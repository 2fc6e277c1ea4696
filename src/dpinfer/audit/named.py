"""All cases by name."""

from collections.abc import Callable
from functools import partial

from dpinfer.audit import barker, clients, descent
from dpinfer.audit.case import Case

STEPS = 8

CASES: dict[str, Callable[[], Case]] = {
    "dpsgd": partial(descent.dpsgd, 1, "poisson"),
    "dpsgd_steps": partial(descent.dpsgd, STEPS, "poisson"),
    "dpsgd_subset": partial(descent.dpsgd, 1, "subset"),
    "dpsgd_subset_steps": partial(descent.dpsgd, STEPS, "subset"),
    "dpvi": partial(descent.dpvi, 1, "poisson"),
    "dpvi_steps": partial(descent.dpvi, STEPS, "poisson"),
    "dpvi_subset": partial(descent.dpvi, 1, "subset"),
    "dpvi_subset_steps": partial(descent.dpvi, STEPS, "subset"),
    "barker": barker.acceptance,
    "pvi_records": clients.of_records,
    "pvi_clients": partial(clients.of_clients, "client"),
    "pvi_shared": partial(clients.of_clients, "shared"),
    "pvi_server": partial(clients.of_clients, "server"),
    "quantile": clients.quantile,
    "percentile": clients.percentile,
    "mean_printed": partial(descent.of_mean, "mean_printed"),
    "mean_code": partial(descent.of_mean, "mean_code"),
}
