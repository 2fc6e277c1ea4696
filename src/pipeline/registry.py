"""What settings name, and the modules that hold it: a table to read, which imports nothing until asked."""

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from dpinfer.accounting import ACCOUNTANTS as ACCOUNTANTS
from dpinfer.errors import InputError

if TYPE_CHECKING:
    from dpinfer.inference.base import Algorithm
    from dpinfer.inference.correction import Correction
    from dpinfer.mechanism.base import Mechanism
    from dpinfer.models.base import Model
    from pipeline.metrics.base import Metric
    from pipeline.settings.method import Method
    from pipeline.settings.model import Model as ModelSettings
    from pipeline.settings.study import Study

ALGORITHMS = {
    "barker": "dpinfer.inference.dpmcmc:minibatch",
    "descent": "dpinfer.inference.descent",
    "dpsgd": "dpinfer.inference.dpsgd",
    "dpvi": "dpinfer.inference.dpvi",
    "full_barker": "dpinfer.inference.dpmcmc:full_batch",
    "gan": "dpinfer.inference.gan",
    "langevin": "dpinfer.inference.langevin:li2019",
    "pvi_clients": "dpinfer.inference.pvi_clients",
    "pvi_records": "dpinfer.inference.pvi_records",
    "sgld": "dpinfer.inference.langevin:wang2015",
}
"""The module of each algorithm, and after a colon the function that builds it, if that is not `build`."""
MODELS = {
    "classifier": "dpinfer.models.classifier",
    "gan": "dpinfer.models.gan",
    "hierarchical": "dpinfer.models.hierarchical",
    "linear": "dpinfer.models.linear",
    "logistic": "dpinfer.models.logistic",
    "mixture": "dpinfer.models.mixture",
    "two_modes": "dpinfer.models.two_modes",
    "vae": "dpinfer.models.vae",
}
"""The module of each model, which has `build`."""
STUDIES = {
    "audit": "pipeline.studies.audit",
    "curve": "pipeline.studies.epsilon",
    "decomposition": "pipeline.studies.decomposition",
    "dominance": "pipeline.studies.epsilon",
    "feistel": "pipeline.studies.feistel",
    "noise": "pipeline.studies.epsilon",
    "orders": "pipeline.studies.epsilon",
    "search": "pipeline.studies.epsilon",
    "time_clients": "pipeline.studies.timing",
    "time_network": "pipeline.studies.time_network",
    "time_sampling": "pipeline.studies.timing",
    "time_steps": "pipeline.studies.timing",
}
"""The module of each study, which lists it in its table `ROWS`."""
DATASETS = {
    "abalone": "pipeline.datasets.tables",
    "adult": "pipeline.datasets.tables",
    "adult_shards": "pipeline.datasets.tables",
    "mnist": "pipeline.datasets.images",
    "fashion_mnist": "pipeline.datasets.images",
    "cifar10": "pipeline.datasets.images",
    "hierarchical": "pipeline.datasets.generated",
    "five_clusters": "pipeline.datasets.generated",
    "two_modes": "pipeline.datasets.generated",
    "linear_shards": "pipeline.datasets.generated",
    "boolean_logistic": "pipeline.datasets.generated",
}
"""The module of each data set, which lists it in its table `LOADERS`."""
METRICS = {
    "accuracy": "pipeline.metrics.predictions",
    "auc": "pipeline.metrics.predictions",
    "components": "pipeline.metrics.mixture",
    "density": "pipeline.metrics.mixture",
    "digits": "pipeline.metrics.generated_images",
    "draws": "pipeline.metrics.chains",
    "gap": "pipeline.metrics.partitioned",
    "learning": "pipeline.metrics.predictions",
    "location": "pipeline.metrics.chains",
    "log_kl": "pipeline.metrics.partitioned",
    "log_likelihood": "pipeline.metrics.predictions",
    "log_likelihood_one_draw": "pipeline.metrics.predictions",
    "loss": "pipeline.metrics.predictions",
    "moment_error": "pipeline.metrics.chains",
    "natural": "pipeline.metrics.partitioned",
    "quality": "pipeline.metrics.generated_images",
    "tests_made": "pipeline.metrics.chains",
}
"""The module of each metric, whose `METRICS` has it by the same name."""
PAID_BY_STEP = ("gap", "learning", "log_kl", "moment_error", "natural")
"""Metrics of which each value costs what the run had cost by its own step."""
UNSAFE = "dpinfer.unsafe.mechanisms"
"""The module of mechanisms that hide nobody."""
ALWAYS_ASKED = ("pld", "rdp")
"""Accountants that bound every epsilon or bracket every search for noise, whichever one the settings name."""


def run_by(settings: "Method | Study") -> set[str]:
    """The modules of what settings run: their algorithm or study, and their model."""
    tables = (("method", ALGORITHMS), ("study", STUDIES))
    models = [getattr(settings, kind).name for kind in ("model", "network") if hasattr(settings, kind)]
    named = [table[getattr(settings, kind)] for kind, table in tables if hasattr(settings, kind)]
    unsafe = {UNSAFE} if is_unsafe(settings) else set[str]()
    return {entry.partition(":")[0] for entry in named} | {MODELS[name] for name in models} | unsafe


def is_unsafe(settings: "Method | Study") -> bool:
    """Whether settings run a mechanism that hides nobody, as some papers do."""
    clips_the_mean = getattr(settings, "clipping", "record") in ("mean_printed", "mean_code")
    # The paper's account may see no clipping where there is some.
    seen = (settings, getattr(settings, "claimed", None))
    return clips_the_mean or any(getattr(part, "clipped", None) is False for part in seen)


def asked_by(settings: "Method | Study") -> set[str]:
    """The modules of the accountants that settings ask: by name, or whatever they name."""
    return {ACCOUNTANTS[name] for name in (*ALWAYS_ASKED, getattr(settings, "accountant", ALWAYS_ASKED[0]))}


def builder(method: str) -> "Callable[..., Algorithm]":
    """Import the function that builds an algorithm, by the name of its method."""
    module, _, name = ALGORITHMS[method].partition(":")
    return cast("Callable[..., Algorithm]", getattr(importlib.import_module(module), name or "build"))


def algorithm(settings: "Method", **parts: Any) -> "Algorithm":
    """Build the algorithm that `settings` names, of those settings and parts that it asks for."""
    build = builder(settings.method)
    asked = inspect.signature(build).parameters
    built: Algorithm = build(**{name: parts[name] if name in parts else getattr(settings, name) for name in asked})
    return built


def model(settings: "ModelSettings") -> "Model":
    """Build the model that `settings` names."""
    stated = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    built: Model = importlib.import_module(MODELS[stated.pop("name")]).build(**stated)
    return built


def correction(values: dict[str, Any]) -> "Correction":
    """Read the correction of logistic noise; only those who need one import what it is."""
    read: Correction = importlib.import_module("dpinfer.inference.correction").from_dict(values)
    return read


def unsafe(name: str, *arguments: Any) -> "Mechanism":
    """Build a mechanism that hides nobody; only those who run one import it."""
    built: Mechanism = getattr(importlib.import_module(UNSAFE), name)(*arguments)
    return built


def study_rows(settings: "Study") -> Iterator[dict[str, Any]]:
    """Compute the rows of the study that `settings` names."""
    rows: Iterator[dict[str, Any]] = importlib.import_module(STUDIES[settings.study]).ROWS[settings.study](
        settings
    )
    return rows


def dataset_loader(name: str) -> Callable[..., Any]:
    """Import the module of a data set, and return the function that loads it."""
    loader: Callable[..., Any] = importlib.import_module(DATASETS[name]).LOADERS[name]
    return loader


def metric(name: str) -> "Metric":
    """Import the metric of that name.

    Raises:
        InputError: There is none.
    """
    if name not in METRICS:
        raise InputError(f"there is no metric {name}: name one of {', '.join(METRICS)}")
    return cast("Metric", importlib.import_module(METRICS[name]).METRICS[name])
