"""No module of the project imports itself by way of others, inside functions or not."""

import ast
from collections.abc import Iterator
from pathlib import Path

from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).parents[1]
PACKAGES = ("planner", "reports")


def module_files() -> dict[str, Path]:
    files = {}
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return files


def imported(file: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yield the modules a file imports while it runs: of a package, the module of the name taken where there is one."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    typed = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in typed:
            taken = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (one if one in known else str(node.module) for one in taken)
        elif isinstance(node, ast.Import) and id(node) not in typed:
            yield from (alias.name for alias in node.names)


def circles() -> list[list[str]]:
    """Return the groups of modules that import each other."""
    files = module_files()
    names = list(files)
    at = {name: place for place, name in enumerate(names)}
    pairs = {
        (at[name], at[one])
        for name, file in files.items()
        for one in imported(file, files)
        if one in at and one != name
    }
    rows, columns = zip(*sorted(pairs), strict=True)
    graph = csr_array(([1] * len(rows), (rows, columns)), shape=(len(names), len(names)))
    _, group = connected_components(graph, connection="strong")
    members = [[name for name, own in zip(names, group, strict=True) if own == which] for which in set(group)]
    return sorted(sorted(group) for group in members if len(group) > 1)


def test_no_module_imports_itself_by_way_of_others():
    assert circles() == []
