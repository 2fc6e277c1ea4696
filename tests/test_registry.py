"""The registry: its tables say what the modules hold, and reading them is cheap."""

import dataclasses
import importlib
import inspect
import pkgutil
import subprocess
import sys
from typing import Any, get_args

import pytest
from pydantic.fields import FieldInfo

from checkout import ROOT
from dpinfer.errors import InputError
from pipeline import metrics, registry
from pipeline.digest import LEFT_OUT, closure
from pipeline.plan import Plan
from pipeline.settings.experiment import ALONG, OF_MODELS, OF_OUTCOMES
from pipeline.settings.method import Method
from pipeline.settings.model import Model
from pipeline.settings.study import Audit


def test_the_table_of_metrics_is_what_the_modules_hold() -> None:
    modules = [f"pipeline.metrics.{module.name}" for module in pkgutil.iter_modules(metrics.__path__)]
    held = [
        (name, module) for module in modules for name in getattr(importlib.import_module(module), "METRICS", ())
    ]
    assert sorted(held) == sorted(registry.METRICS.items())


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(InputError, match="there is no metric beauty: name one of accuracy, auc, "):
        registry.metric("beauty")


def test_what_settings_say_of_metrics_is_said_of_known_ones() -> None:
    assert {*OF_MODELS, *OF_OUTCOMES} <= registry.METRICS.keys()
    along = {name for name in registry.METRICS if registry.metric(name).kind != "end"}
    assert along == {*ALONG}


def test_only_metrics_of_the_end_have_places() -> None:
    found = [registry.metric(name) for name in registry.METRICS]
    assert {metric.kind for metric in found if metric.places} == {"end"}


def test_a_model_asks_for_what_its_settings_say_with_the_same_defaults() -> None:
    kinds = get_args(get_args(Model)[0])
    assert {kind.name for kind in kinds} == registry.MODELS.keys()
    for kind in kinds:
        build = importlib.import_module(registry.MODELS[kind.name]).build
        assert defaults_of(kind) == {
            name: own.default for name, own in inspect.signature(build).parameters.items()
        }


def test_an_algorithm_has_the_defaults_of_its_settings() -> None:
    kinds = get_args(get_args(Method)[0])
    assert {kind.method for kind in kinds} == registry.ALGORITHMS.keys()
    for kind in kinds:
        build = registry.builder(kind.method)
        stated = defaults_of(kind)
        for name, own in inspect.signature(build).parameters.items():
            # What is made anew for everyone is not compared: it is empty.
            if own.default is not own.empty and name in stated and not isinstance(stated[name], FieldInfo):
                assert own.default == stated[name], name


def defaults_of(kind: Any) -> dict[str, Any]:
    """The defaults of the settings' fields, but for the name."""
    found = {field.name: field.default for field in dataclasses.fields(kind) if field.name != "name"}
    nothing = inspect.Parameter.empty
    return {name: nothing if value is dataclasses.MISSING else value for name, value in found.items()}


def test_the_digest_of_an_audit_covers_all_that_it_runs() -> None:
    program = (
        "import sys, jax, pipeline.settings.study; left_out = set(sys.modules)\n"
        "import pipeline.stages.study; from dpinfer.audit.case import audit\n"
        "from pipeline.studies.audit import CASES\n"
        "for name in ('barker', 'mean_code', 'pvi_clients', 'own'): "
        "audit(CASES[name](), jax.random.key(0), 60, 0.9)\n"
        "print(*(name for name in {*sys.modules} - left_out if name.partition('.')[0] in ('dpinfer', 'pipeline')))"
    )
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    covered = closure(frozenset({"pipeline.stages.study", *registry.run_by(Audit(mechanism="own"))}))
    assert not [name for name in set(said.split()) - covered if not f"{name}.".startswith(LEFT_OUT)]


def test_a_fit_counts_what_it_runs_and_no_other_method(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan({"scale": "smoke"}, ROOT)
    monkeypatch.setattr(plan, "_digest", lambda modules, _: closure(frozenset(modules)))

    def counted(experiment: str) -> set[str]:
        covered = [plan.cell_code("fit", experiment, cell) for cell in plan.experiments[experiment].cells]
        return set().union(*covered)

    chains = {"dpinfer.inference.dpmcmc", "dpinfer.inference.correction"}
    accountants = {f"dpinfer.accounting.sound.{name}" for name in ("pld", "rdp", "moments")}
    others = {*chains, *accountants, registry.UNSAFE}
    assert not counted("abalone_descent") & others
    assert not counted("dpvi_fig3_abalone") & others
    assert counted("dpmcmc_fig3") & others == chains
    assert counted("pyvacy_fig4") & others == {registry.UNSAFE}
    assert counted("dpvi_sgld_abalone") & others == {registry.UNSAFE}


def test_reading_the_registry_imports_no_jax() -> None:
    subprocess.run(
        [sys.executable, "-c", "import pipeline.registry, sys; assert 'jax' not in sys.modules"], check=True
    )
