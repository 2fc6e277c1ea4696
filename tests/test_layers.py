"""The napkin: a layer imports only what is to its left."""

import ast
from pathlib import Path

import pytest

import dpinfer
from dpinfer.digest import closure

ROOT = Path(dpinfer.__file__).parent
EVERYWHERE = {"", "atomic", "binomial", "errors", "threefry", "tree", "types", "settings"}
MAY_IMPORT = {
    "settings": set(),
    "accounting": set(),
    "data": {"machine"},
    "models": set(),
    "sampling": {"accounting.events"},
    "mechanism": {"accounting.events", "sampling", "models.layers"},
    "inference": {"accounting.events", "models", "sampling", "mechanism"},
    "posterior": {"models", "inference"},
    "evaluate": {"models", "inference", "posterior"},
    "figures": set(),
    "scoring": set(),
    "pages": {"plan", "scoring"},
    "audit": {"accounting", "models", "inference", "experiment"},
    "studies": {"accounting", "sampling", "data", "models", "mechanism", "inference", "audit"},
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Dotted names below dpinfer that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [node.module] if node.module != "dpinfer" else [f"dpinfer.{alias.name}" for alias in node.names]
            )
        found |= {name.removeprefix("dpinfer").lstrip(".") for name in names if name.split(".")[0] == "dpinfer"}
    return found


def allowed(package: str, name: str) -> bool:
    own = {package, *EVERYWHERE, *MAY_IMPORT[package]}
    return any(name == entry or name.startswith(f"{entry}.") for entry in own if entry or not name)


@pytest.mark.parametrize("package", [name for name in MAY_IMPORT if (ROOT / name).is_dir()])
def test_a_layer_imports_only_what_is_left_of_it(package: str) -> None:
    wrong = {
        f"{path.name}: {name}" for path in modules(package) for name in imports(path) if not allowed(package, name)
    }
    assert not wrong


def test_every_package_is_a_layer() -> None:
    packages = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert packages <= {*MAY_IMPORT, "stages", "commands", "own", "svi", "training"}


def test_the_rule_rejects_what_it_should() -> None:
    assert not allowed("mechanism", "inference.base")
    assert not allowed("mechanism", "accounting.pld")
    assert allowed("mechanism", "accounting.events")


@pytest.mark.parametrize(
    "entry", ["dpinfer.plan", "dpinfer.stages.figure", "dpinfer.stages.table", "dpinfer.stages.data"]
)
def test_light_stages_never_import_jax(entry: str) -> None:
    files = [ROOT.joinpath(*name.split(".")[1:]) for name in closure(frozenset({entry}))]
    for file in files:
        path = file.with_suffix(".py") if file.with_suffix(".py").is_file() else file / "__init__.py"
        tops = {
            (node.names[0].name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert not tops & {"jax", "numpyro", "optax"}, path


def test_no_file_is_long() -> None:
    project = ROOT.parent.parent
    files = [
        *project.glob("src/**/*.py"),
        *project.glob("tests/**/*.py"),
        *project.glob("workflow/**/*.*"),
        project / "Snakefile",
    ]
    code = [path for path in files if path.suffix in {".py", ".smk", ""} and path.is_file()]
    assert not [path.name for path in code if len(path.read_text(encoding="utf-8").splitlines()) > 300]
