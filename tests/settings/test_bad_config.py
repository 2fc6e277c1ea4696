"""Every kind of bad config stops before the first job, with one sentence naming file, key and remedy."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from dpinfer.errors import InputError
from pipeline.plan import Plan

ROOT = Path(__file__).parent.parent.parent
FILE = "config/experiments/dpvi/abalone_descent.yaml"
Changes = dict[str, Any]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one experiment and nothing else, as seen from its own folder."""
    monkeypatch.chdir(tmp_path)
    for name in (FILE, "workflow/figures/dpvi/abalone_descent.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    return Path()


def change(root: Path, changes: Changes) -> None:
    """Set dotted keys of the experiment; `...` removes one."""
    content = YAML(typ="safe").load(root / FILE)
    for dotted, value in changes.items():
        table = content
        *sections, key = dotted.split("/")
        for section in sections:
            table = table.setdefault(section, {})
        if value is ...:
            del table[key]
        else:
            table[key] = value
    YAML(typ="safe").dump(content, root / FILE)


def test_the_unchanged_experiment_is_fine(root: Path) -> None:
    assert len(Plan({}, root).experiments["abalone_descent"].cells) == 5


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"base/clp": 1.0}, "base.clp is not a known key; did you mean clip?"),
        ({"titel": "x"}, "titel is not a known key; did you mean title?"),
        ({"data/rows": 3}, "data.rows is not a known key; allowed here: name, standin"),
        (
            {"arms/private/grid": {"epsilonn": [1.0]}},
            "arms.private.grid.epsilonn is not a known key; did you mean epsilon?",
        ),
        ({"base/num_steps": "many"}, "base.num_steps is 'many', but should be a valid integer"),
        ({"base/num_steps": 1.5}, "base.num_steps is 1.5, but should be a valid integer"),
        ({"base/seeds": True}, "base.seeds is True, but should be a valid integer"),
        (
            {"arms/exact/base/start_from": {"experiment": "nowhere"}},
            "start_from names nowhere, but there is no such experiment",
        ),
        (
            {"arms/exact/base/start_from": {"experiment": "abalone_descent", "cell": "x"}},
            "start_from names the cell x of abalone_descent, which has no such fit",
        ),
        (
            {"arms/private/base": {"start_from": {"experiment": "abalone_descent", "cell": "exact"}}},
            "start_from is for runs whose noise is given",
        ),
        ({"base/clip": -1.0}, "base.clip is -1.0, but should be greater than 0"),
        ({"base/clip": 0}, "base.clip is 0, but should be greater than 0"),
        ({"base/clip": float("inf")}, "base.clip is inf, but should be a finite number"),
        ({"base/delta": 1.0}, "base.delta is 1.0, but should be less than 1"),
        ({"base/delta": 0.0}, "base.delta is 0.0, but should be greater than 0"),
        ({"base/delta": ...}, "a private run needs delta"),
        ({"base/num_steps": 0}, "base.num_steps is 0, but should be greater than 0"),
        ({"base/num_steps": -5}, "base.num_steps is -5, but should be greater than 0"),
        ({"base/num_steps": ...}, "the key num_steps is missing"),
        ({"base/method": "magic"}, "base.method is 'magic', but should be one of 'descent', 'dpvi'"),
        ({"data/name": "iris"}, "data.name is 'iris', but should be one of 'abalone', "),
        ({"data": {"standin": True}}, "the key data.name is missing"),
        ({"model/name": "forest"}, "model.name is 'forest', but should be one of 'logistic', 'hierarchical', "),
        (
            {"metrics": ["beauty"]},
            "metrics.0 is 'beauty', but should be 'accuracy', 'auc', 'components', 'density', ",
        ),
        (
            {"model": {"name": "mixture"}, "metrics": ["log_likelihood", "auc"]},
            "metrics names auc, but the model mixture predicts no outcome",
        ),
        ({"metrics": []}, "metrics should name what is evaluated of fits, and be left out of studies"),
        ({"figures": ["nowhere"]}, "figures names nowhere, but there is no workflow/figures/dpvi/nowhere.py"),
        ({"reads": ["nothing"]}, "reads names nothing, but there is no such experiment"),
        (
            {"arms/private/grid": {"epsilon": []}},
            "arms.private.grid.epsilon is empty, but should list at least one value",
        ),
        (
            {"arms/private/grid": {"epsilon": 3}},
            "arms.private.grid.epsilon is 3, but should be a valid array",
        ),
        (
            {"arms/private/grid": {"epsilon": [1, 1.0]}},
            "the cells private-epsilon=1 and private-epsilon=1 are the same",
        ),
        ({"arms/again": {"base": {"epsilon": float("inf")}}}, "the cells again and exact are the same"),
        (
            {"arms/exact/base": {"noise_multiplier": 1.0, "epsilon": 1.0}},
            "exactly one of epsilon and noise_multiplier",
        ),
        ({"scales/huge": {}}, "scales.huge"),
        (
            {"scales/laptop": {"arms": {"other": {}}}},
            "scales.laptop changes an arm other that the experiment does not have",
        ),
        ({"arms/Bad name": {}}, "arms.Bad name"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_bad_experiment_gets_its_sentence(root: Path, changes: Changes, sentence: str) -> None:
    change(root, changes)
    with pytest.raises(InputError) as caught:
        Plan({}, root)
    message = str(caught.value)
    assert message.startswith(FILE)
    assert sentence in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"scal": "smoke"}, "scal is not a known key; did you mean scale?"),
        ({"scale": "tiny"}, "scale is 'tiny', but should be 'smoke', 'laptop' or 'paper'"),
        ({"seed": -1}, "seed is -1, but should be greater than or equal to 0"),
        ({"seed": "one"}, "seed is 'one', but should be a valid integer"),
        ({"device": "tpu"}, "device is 'tpu', but should be 'auto', 'cpu' or 'gpu'"),
        (
            {"experiments": ["abalone_decent"]},
            "experiments names abalone_decent, but there is no such experiment; did you mean abalone_descent?",
        ),
        ({"experiments": []}, "experiments is empty, but should be all or a list of names"),
        ({"experiments": 7}, "experiments"),
    ],
    ids=str,
)
def test_a_bad_run_gets_its_sentence(root: Path, config: Changes, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Plan(config, root)
    assert str(caught.value).startswith("config/config.yaml or --config: ")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title: [unclosed", "this is not valid YAML"),
        ("title: a\ntitle: b\n", "this is not valid YAML: found duplicate key"),
        ("- a\n- b\n", "the file should hold keys and values, but holds list"),
        ("", "the file should hold keys and values, but holds NoneType"),
        ("\tbase: 1\n", "this is not valid YAML"),
    ],
)
def test_a_malformed_file_gets_its_sentence(root: Path, text: str, sentence: str) -> None:
    (root / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        Plan({}, root)
    assert str(caught.value).startswith(f"{FILE}: {sentence}")
    assert "\n" not in str(caught.value)


STUDY = {
    "title": "t",
    "where": "w",
    "base": {"study": "curve", "over": "num_steps", "values": [1], "sampling_rate": 0.1, "delta": 1e-5},
}


@pytest.mark.parametrize(
    ("base", "sentence"),
    [
        ({"sampling_rate": 0.0}, "base.sampling_rate is 0.0, but should be greater than 0"),
        ({"sampling_rate": 1.5}, "base.sampling_rate is 1.5, but should be less than or equal to 1"),
        ({"sampling_rate": float("nan")}, "base.sampling_rate is nan, but should be"),
        ({"noise_multiplier": -2.0}, "base.noise_multiplier is -2.0, but should be greater than 0"),
        ({"study": "magic"}, "base.study is 'magic', but should be one of 'curve'"),
        ({"accountant": "abacus"}, "base.accountant is 'abacus', but should be 'gaussian'"),
        ({"sampler": "barker"}, "records should be given for the sampler barker, and for no other"),
        ({"clip": 1.0}, "base.clip is not a known key"),
    ],
    ids=str,
)
def test_a_bad_study_gets_its_sentence(root: Path, base: Changes, sentence: str) -> None:
    YAML(typ="safe").dump({**STUDY, "base": {**STUDY["base"], **base}}, root / FILE)  # type: ignore[dict-item]
    with pytest.raises(InputError) as caught:
        Plan({}, root)
    assert str(caught.value).startswith(FILE)
    assert sentence in str(caught.value)


def test_two_experiments_of_one_name_are_refused(root: Path) -> None:
    other = root / "config/experiments/d3p/abalone_descent.yaml"
    other.parent.mkdir()
    other.write_text((root / FILE).read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match="has the same name already"):
        Plan({}, root)


def test_a_project_without_experiments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no experiment to run"):
        Plan({}, tmp_path)


def test_a_mistyped_figure_or_experiment_gets_a_suggestion(root: Path) -> None:
    plan = Plan({}, root)
    with pytest.raises(InputError, match=r"no experiment of this run has a figure abalone_decent; did you mean"):
        plan.script("abalone_decent")
    with pytest.raises(
        InputError, match=r"this run has no experiment abalone_decent; did you mean abalone_descent"
    ):
        plan.metrics_of("abalone_decent")


def test_a_script_that_draws_what_its_figure_does_not_read_is_refused(root: Path) -> None:
    script = root / "workflow/figures/dpvi/abalone_descent.py"
    script.write_text('def draw(metrics, published):\n    metrics[metrics["experiment"] == "other"]\n')
    with pytest.raises(InputError) as caught:
        Plan({}, root)
    assert str(caught.value) == f"{FILE}: {script} draws other, which should be under reads"


def test_what_an_experiment_needs_is_run_but_not_asked_for() -> None:
    plan = Plan({"experiments": ["dpvi_fig3_abalone"]}, ROOT)
    assert {"dpvi_fig1_abalone"} < plan.experiments.keys()
    assert plan.figures() == ["dpvi_fig3_abalone"]
    assert [path for path in plan.targets() if "fig1" in path] == []
    assert f"{plan.results}/metrics/dpvi_fig1_abalone.csv" in plan.metrics("dpvi_fig3_abalone")


def test_the_fit_that_a_run_starts_from_is_run_as_well() -> None:
    plan = Plan({"experiments": ["dpmcmc_fig1c"]}, ROOT)
    assert plan.starts_of("dpmcmc_fig1c", "1of1") == plan.index("account", "dpmcmc_init")
    assert len(plan.experiments) > 1
