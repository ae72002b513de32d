"""The house: imports run downwards only, without a circle, and only one module prints."""

from __future__ import annotations

import ast
from pathlib import Path

import testlore

PACKAGE = Path(testlore.__file__).parent

#: The floors, from the ground up. A room may use its own floor and those below it.
FLOORS = (
    ("errors", "canonical", "child", "libraries", "progress", "signals"),
    ("schemas", "digests", "forms"),
    ("project",),
    ("cache", "memory", "ranking", "engines", "embedding", "frameworks", "programs"),
    ("evidence",),
    ("stages",),
    ("agents", "evaluate"),
    ("commands", "cli", "doit_host", "tasks", "__main__"),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

#: Programs that run in a child process of their own: they import nothing of the package but what they name here.
CHILD_PROGRAMS = (
    "guard.py",
    "engines/wheel_worker.py",
    "frameworks/runners/unittest_junit.py",
    "evidence/isolation/sitecustomize.py",
    "evidence/isolation/testlore_without_coverage.py",
    "evidence/measures/start_coverage.py",
)


def modules() -> list[str]:
    found = [path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py"))]
    return [name for name in found if name != "__init__.py" and name not in CHILD_PROGRAMS]


def room(module: str) -> str:
    return module.split("/")[0].removesuffix(".py")


def imports(module: str) -> set[str]:
    """Every module of ours that a module imports, anywhere in it, as a path in the package."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((PACKAGE / module).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update(file(f"{node.module}.{alias.name}") or file(node.module) for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(file(alias.name) for alias in node.names)
    return found - {module, ""}


def file(name: str) -> str:
    """The file of a module of ours by its dotted name, as a path in the package; empty when there is none."""
    top, _, rest = name.partition(".")
    path = rest.replace(".", "/")
    candidates = (f"{path}.py", f"{path}/__init__.py") if top == "testlore" and path else ()
    return next((candidate for candidate in candidates if (PACKAGE / candidate).is_file()), "")


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """A way that leads back to where it began, or nothing."""
    done: set[str] = set()

    def walk(at: str, way: list[str]) -> list[str]:
        if at in way:
            return [*way[way.index(at) :], at]
        if at in done:
            return []
        for to in sorted(arrows.get(at, ())):
            found = walk(to, [*way, at])
            if found:
                return found
        done.add(at)
        return []

    for start in sorted(arrows):
        found = walk(start, [])
        if found:
            return found
    return []


def test_every_room_has_a_floor() -> None:
    assert {room(module) for module in modules()} == set(FLOOR_OF)


def test_no_import_leads_to_a_higher_floor() -> None:
    upwards = [
        f"{module} -> {target}"
        for module in modules()
        for target in sorted(imports(module))
        if FLOOR_OF[room(target)] > FLOOR_OF[room(module)]
    ]
    assert upwards == []


def test_no_file_imports_itself_in_a_circle() -> None:
    assert circle({module: imports(module) for module in modules()}) == []


def test_no_room_needs_itself_by_way_of_another() -> None:
    arrows: dict[str, set[str]] = {}
    for module in modules():
        arrows.setdefault(room(module), set()).update(room(target) for target in imports(module))
    assert circle({name: targets - {name} for name, targets in arrows.items()}) == []


def test_no_module_holds_a_second_idea() -> None:
    long = {module: len((PACKAGE / module).read_text("utf-8").splitlines()) for module in modules()}
    assert {module: lines for module, lines in long.items() if lines > 310 and module != "forms.py"} == {}
