"""The command that runs a suite in a copy of the project, and writes its report."""

from __future__ import annotations

import os
from collections.abc import Sequence

from testlore.frameworks import FILES, JUNIT, Command, Framework


def build(
    framework: Framework, root: str, runner: Sequence[str], copy: str, report: str, files: Sequence[str], only: str = ""
) -> Command:
    """The command that runs a suite.

    Args:
        root: the original project, where programs are found that are no part of its sources.
        runner: as configured; empty for the framework's own.
        copy: the folder that the suite runs in.
        report: the path of the JUnit XML, outside of the copy.
        files: the copy's files. Runners that do not find the tests by themselves are named the tests among them.
        only: the one test file to run; empty for the whole suite.

    Raises:
        Refusal: ``runner-missing``: we do not know how to get a report from this runner.
    """
    parts = list(runner) or framework.default_runner()
    environment: dict[str, str] = {}
    if not any(JUNIT in part for part in parts):
        parts, environment = framework.with_report(parts, report)
    named = [only] if only else framework.file_arguments(parts, files)
    named = [f"./{path}" if path.startswith("-") else path for path in named]  # it would be taken for an option
    argv: list[str] = []
    for part in parts:
        if part == FILES:
            argv += named
        elif FILES in part:
            argv.append(part.replace(FILES, " ".join(named)))
        else:
            argv.append(part.replace(JUNIT, report))
    argv[0] = _program(root, copy, argv[0])
    return Command(argv, environment)


def _program(root: str, copy: str, program: str) -> str:
    """The path of a program: in the copy if it is part of the sources, else in the original project."""
    if "/" not in program or os.path.isabs(program):
        return program
    inside = os.path.join(copy, program)
    return inside if os.path.exists(inside) else os.path.join(root, program)
