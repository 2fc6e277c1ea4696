"""The architecture: a layer imports only what is to its left."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from pipeline.digest import PACKAGES, ROOT, by_value, closure, path_of

EVERYWHERE = {
    "dpinfer.atomic", "dpinfer.binomial", "dpinfer.errors", "dpinfer.random.keys", "dpinfer.random.normal",
    "dpinfer.random.threefry", "dpinfer.tree", "dpinfer.types",
}  # fmt: skip
MAY_IMPORT = {
    "dpinfer.random": set[str](),
    "dpinfer.accounting": set[str](),
    "dpinfer.models": set[str](),
    "dpinfer.sampling": {"dpinfer.accounting.events"},
    "dpinfer.clipping": set[str](),
    "dpinfer.mechanism": {"dpinfer.accounting.events", "dpinfer.clipping", "dpinfer.sampling"},
    "dpinfer.unsafe": {"dpinfer.accounting.events", "dpinfer.clipping", "dpinfer.sampling", "dpinfer.mechanism"},
    "dpinfer.inference": {
        "dpinfer.accounting.events", "dpinfer.clipping", "dpinfer.models", "dpinfer.sampling", "dpinfer.mechanism",
    },
    "dpinfer.audit": {
        "dpinfer.accounting", "dpinfer.cli", "dpinfer.inference", "dpinfer.mechanism",
        "dpinfer.models", "dpinfer.svi", "dpinfer.training", "dpinfer.unsafe",
    },
    "pipeline.settings": {
        "dpinfer.audit.names", "dpinfer.inference.names", "dpinfer.models.names", "dpinfer.sampling.names",
        "pipeline.registry",
    },
    "pipeline.datasets": {"dpinfer.machine", "pipeline.registry"},
    "pipeline.metrics": {"dpinfer.models", "dpinfer.inference"},
    "pipeline.studies": {"dpinfer", "pipeline.datasets", "pipeline.registry"},
    "pipeline.plots": {"dpinfer.look"},
    "pipeline.scorecard": set[str](),
    "pipeline.report": {"pipeline.plan", "pipeline.scorecard"},
}  # fmt: skip
OTHERS = {"dpinfer.cli", "dpinfer.table", "dpinfer.svi", "dpinfer.training", "pipeline.stages"}


def modules(package: str) -> list[Path]:
    return sorted(ROOT.joinpath(*package.split(".")).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Dotted names of ours that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if path_of(name) else node.module for name in named]
        found |= {name for name in names if name.split(".")[0] in PACKAGES}
    return found


def allowed(package: str, name: str) -> bool:
    own = {package, *EVERYWHERE, *MAY_IMPORT[package]}
    if package.startswith("pipeline."):
        own.add("pipeline.settings")
    return any(name == entry or name.startswith(f"{entry}.") for entry in own)


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_layer_imports_only_what_it_may(package: str) -> None:
    files = modules(package)
    assert files
    assert not {f"{path.name}: {name}" for path in files for name in imports(path) if not allowed(package, name)}


def test_the_library_never_imports_the_pipeline() -> None:
    """Neither at the top of a module nor inside of a function."""
    found = {path: {name.split(".")[0] for name in imports(path)} for path in modules("dpinfer")}
    assert not [path for path, packages in found.items() if "pipeline" in packages]


def test_no_guarantee_rests_on_what_papers_state() -> None:
    sound = {f"dpinfer.accounting.sound.{path.stem}" for path in modules("dpinfer.accounting.sound")}
    loaded = closure(frozenset(sound))
    assert sound - {"dpinfer.accounting.sound.__init__"} <= loaded
    assert not {name for name in loaded if name.startswith("dpinfer.accounting.published")}


@pytest.mark.parametrize("entry", ["dpinfer.svi", "dpinfer.training", "dpinfer.cli.fit"])
def test_no_release_comes_near_what_is_unsafe(entry: str) -> None:
    loaded = closure(frozenset({entry}))
    assert "dpinfer.accounting.events" in loaded
    assert not {name for name in loaded if name.startswith("dpinfer.unsafe")}


def test_every_package_is_a_layer() -> None:
    packages = {
        f"{name}.{path.name}" for name in PACKAGES for path in (ROOT / name).iterdir()
        if (path / "__init__.py").is_file()
    }  # fmt: skip
    assert packages == {*MAY_IMPORT, *OTHERS}


def test_what_settings_load_of_the_library_is_values() -> None:
    """Else it would be code that every stage runs, and that counts for none of them."""
    loaded = {name for name in by_value() if name.startswith("dpinfer.")}
    loaded -= {"dpinfer.errors", "dpinfer.accounting"}
    assert loaded > {"dpinfer.audit.names", "dpinfer.inference.names"}
    for name in loaded:
        path = path_of(name)
        assert path is not None
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)], name
        assert not imports(path), name


def test_settings_have_no_behaviour() -> None:
    """Only checks of the values themselves, and what the plan alone asks."""
    decorated = {
        f"{path.stem}.{node.name}": [ast.unparse(decorator) for decorator in node.decorator_list]
        for path in modules("pipeline.settings") for kind in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(kind, ast.ClassDef) and not kind.name.startswith("_")
        for node in kind.body if isinstance(node, ast.FunctionDef)
    }  # fmt: skip
    others = {name for name, found in decorated.items() if found != ["model_validator(mode='after')"]}
    plan = {"experiment.is_study", "project.file", "project.is_study", "project.is_timed", "project.results"}
    assert others == {*plan, "claim.paper"}


def test_one_name_is_one_thing() -> None:
    """But for the state and the randomness of each algorithm, which stand in its own file."""
    counts = Counter(
        node.name for package in PACKAGES for path in modules(package)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )  # fmt: skip
    assert {name for name, count in counts.items() if count > 1} - {"State", "Randomness", "Batch"} == set()


def test_the_rule_rejects_what_it_should() -> None:
    assert not allowed("dpinfer.mechanism", "dpinfer.inference.base")
    assert not allowed("dpinfer.mechanism", "dpinfer.accounting.sound.pld")
    assert allowed("dpinfer.mechanism", "dpinfer.accounting.events")
    assert not allowed("dpinfer.models", "pipeline.settings.model")
    assert allowed("pipeline.metrics", "pipeline.settings.model")


@pytest.mark.parametrize(
    "entry", ["pipeline.plan", "pipeline.stages.figure", "pipeline.stages.table", "pipeline.stages.data"]
)
def test_light_stages_never_import_jax(entry: str) -> None:
    files = [ROOT.joinpath(*name.split(".")) for name in closure(frozenset({entry}))]
    for file in files:
        path = file.with_suffix(".py") if file.with_suffix(".py").is_file() else file / "__init__.py"
        tops = {
            (node.names[0].name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert not tops & {"jax", "numpyro", "optax"}, path


def test_no_file_is_very_long() -> None:
    project = ROOT.parent
    files = [
        *project.glob("src/**/*.py"),
        *project.glob("tests/**/*.py"),
        *project.glob("workflow/**/*.*"),
        project / "Snakefile",
    ]
    code = [path for path in files if path.suffix in {".py", ".smk", ""} and path.is_file()]
    assert not [path.name for path in code if len(path.read_text(encoding="utf-8").splitlines()) > 450]
