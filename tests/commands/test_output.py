"""The one place that prints, and that it is the only one."""

from __future__ import annotations

import ast
import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import testlore
from helpers import Project

PACKAGE = Path(testlore.__file__).parent

#: The modules that print themselves, because each runs as a program of its own.
CHILD_PROGRAMS = ("engines/wheel_worker.py", "embedding/semantic.py", "evidence/isolation/", "frameworks/runners/")
#: doit's reporter, and its actions, get their streams from doit.
DOIT = ("doit_host/configuration.py",)
#: Skips interpreter teardown, and so flushes both streams itself.
LAST_FLUSH = {"cli.py": 2}
STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")


def uses(tree: ast.AST) -> Iterator[int]:
    """The lines that call ``print`` or use one of the streams."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "print":
            yield node.lineno
        if isinstance(node, ast.Attribute) and node.attr in STREAMS and ast.unparse(node.value) in ("sys", "_sys"):
            yield node.lineno
        if isinstance(node, ast.ImportFrom) and node.module == "sys":
            yield from [node.lineno for alias in node.names if alias.name in STREAMS]


def test_only_output_prints() -> None:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        lines = list(uses(ast.parse(path.read_text("utf-8"))))
        is_allowed = name.startswith((*CHILD_PROGRAMS, *DOIT, "commands/output.py"))
        if not is_allowed and len(lines) != LAST_FLUSH.get(name, 0):
            found[name] = lines
    assert found == {}


@pytest.mark.parametrize(
    "code", ["print(1)", "import sys\nsys.stdout.write('')", "from sys import stderr", "import sys\nf(sys.__stderr__)"]
)
def test_what_prints_is_found(code: str) -> None:
    assert len(list(uses(ast.parse(code)))) == 1


def python(tmp_path: Path, code: str, **env: str) -> tuple[str, str]:
    """What this code, which knows ``output``, writes to its two streams."""
    done = Project(tmp_path, env).python("-c", f"from testlore.commands import output\n{code}")
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_a_warning_cannot_move_the_cursor(tmp_path: Path) -> None:
    _, errors = python(tmp_path, r"output.warn('red \x1b[31m\r\u202e ö\nnext\tline'); output.tell('told')")
    assert errors == "red �[31m�� ö\nnext\tline\ntestlore: told\n"


def test_a_warning_is_escaped_where_the_encoding_lacks_a_character(tmp_path: Path) -> None:
    assert python(tmp_path, r"output.warn('ö ☕')", PYTHONIOENCODING="ascii")[1] == "\\xf6 \\u2615\n"


def test_an_answer_is_utf_8_and_keeps_no_lone_surrogate(tmp_path: Path) -> None:
    assert python(tmp_path, r"output.write('ö \ud800\n')", PYTHONIOENCODING="ascii")[0] == "ö ?\n"


def test_an_answer_follows_what_others_printed_before(tmp_path: Path) -> None:
    assert python(tmp_path, "print('first'); output.write('second\\n')")[0] == "first\nsecond\n"


def test_progress_is_a_line_for_every_tenth_where_there_is_no_terminal(tmp_path: Path) -> None:
    _, errors = python(tmp_path, "for done in range(1, 41): output.progress(done, 40)")
    assert errors.splitlines() == [f"{done}/40" for done in range(4, 41, 4)]


def test_progress_is_a_bar_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    code = "from testlore.commands import output\nfor done in (1, 2): output.progress(done, 2)"
    try:
        Project(tmp_path).run(sys.executable, "-c", code, capture_output=False, stderr=theirs)
        os.close(theirs)
        shown = os.read(ours, 1000).decode()
    finally:
        os.close(ours)
    assert shown.split("\r")[1:3] == [f"[{'#' * 20}{' ' * 20}] 1/2", f"[{'#' * 40}] 2/2"]
