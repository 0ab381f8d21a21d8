"""Imports go one way: a package imports only from those below it, and no module uses another one's private names."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.programs import module_of

SOFTIRR = (
    *(
        "cli",
        "audit",
        "report",
        "statistics.comparisons",
        "statistics.evidence",
        "statistics.coefficients",
        "statistics.draws",
        "statistics.weights_and_scores",
        "statistics.chance",
        "statistics.matching",
        "meaning.policy",
        "meaning.measures",
        "inference",
    ),
    *(
        "meaning.terminology",
        "meaning.lexicon",
        "answers",
        "terminal",
        "provenance",
        "numbers",
        "text",
        "defaults",
    ),
    *("json_object", "errors"),
)
"""From the top layer down; only the command line may import the public API, ``softirr`` itself."""
ML_BACKEND = (
    *("cli", "demo", "serve", "worker", "web_process", "app", "web", "services", "review"),
    *(
        "scoring",
        "labelstudio",
        "auth",
        "store",
        "options",
        "project_settings",
        "settings",
        "logs",
        "subprocess_env",
    ),
)
LAYERS = {"softirr": SOFTIRR, "ml_backend": ML_BACKEND}
WITHOUT_CIRCLES = ("softirr", "ml_backend")
"""Packages with modules that import each other in one direction only, imports inside functions included."""


@cache
def modules(root: Path, package: str) -> list[tuple[str, ast.Module]]:
    result = []
    for path in sorted((root / package).rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        result.append((name, ast.parse(path.read_text(encoding="utf-8"))))
    return result


def imports(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """Module, name and line of every import in a file, those inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "relative imports hide what is imported"
            yield from ((node.module, alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "", node.lineno) for alias in node.names)


GROUPS = {"meaning", "statistics"}
"""Packages of softirr with subpackages that are layers."""


def layer(package: str, module: str) -> str | None:
    names = module.split(".")
    if names[0] != package or len(names) < 2 or module in {f"{package}.{group}" for group in GROUPS}:
        return None
    return ".".join(names[1:3]) if names[1] in GROUPS else names[1]


@pytest.mark.parametrize("package", LAYERS)
def test_every_module_has_a_layer(root: Path, package: str) -> None:
    assert {layer(package, name) for name, _ in modules(root, package)} - {None, "__main__"} == set(LAYERS[package])


@pytest.mark.parametrize("package", LAYERS)
def test_no_import_runs_upward(root: Path, package: str) -> None:
    order = LAYERS[package]
    upward = []
    for name, tree in modules(root, package):
        importing_layer = layer(package, name)
        if importing_layer in (None, "__main__"):
            continue
        for module, imported, line in imports(tree):
            imported_layer = layer(package, f"{module}.{imported}" if module == package else module)
            if imported_layer in order and order.index(imported_layer) < order.index(importing_layer):
                upward.append(f"{name}:{line} imports {module}")
    assert not upward


@pytest.mark.parametrize("package", WITHOUT_CIRCLES)
def test_no_modules_import_each_other(root: Path, package: str) -> None:
    size = module_of(root / ".ci" / "size.py")
    assert size.circles(size.imports(root, package)) == []
    assert size.circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_the_science_knows_no_server(root: Path) -> None:
    foreign = ("ml_backend", "flask", "label_studio_sdk")
    foreign_imports = [
        f"{name}:{line} imports {module}"
        for name, tree in modules(root, "softirr")
        for module, _, line in imports(tree)
        if module.split(".")[0] in foreign
    ]
    assert not foreign_imports


def test_private_names_stay_private(root: Path) -> None:
    private_imports = [
        f"{name}:{line} imports {imported} of {module}"
        for package in LAYERS
        for name, tree in modules(root, package)
        for module, imported, line in imports(tree)
        if module.split(".")[0] in LAYERS and (imported.startswith("_") or "._" in module) and imported != "__version__"
    ]
    assert not private_imports
