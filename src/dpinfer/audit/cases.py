"""All cases by name."""

from collections.abc import Callable
from functools import partial

from dpinfer.audit import barker, clients, descent, users
from dpinfer.audit.case import Case
from dpinfer.audit.names import Mechanism
from dpinfer.audit.users import case

STEPS = 8

CASES: dict[Mechanism, Callable[[], Case]] = {
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
    "mean_printed": partial(descent.of_mean, "printed"),
    "mean_code": partial(descent.of_mean, "code"),
    "dpsvi_run": partial(case, users.dpsvi_run),
    "dpsvi_update": partial(case, users.dpsvi_update),
    "dpsvi_x64": partial(case, users.dpsvi_update_x64),
    "training": partial(case, users.training),
    "training_resume": partial(case, users.training_resumed),
    "own": partial(case, users.table_seeded),
    "own_release": partial(case, users.table_released),
}
