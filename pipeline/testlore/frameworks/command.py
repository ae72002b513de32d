"""Builds the command that runs a suite in a copy of the project and writes the report."""

from __future__ import annotations

import os
from collections.abc import Sequence

from testlore.frameworks import FILES, JUNIT, WHOLE, Command, Extent, Framework, managers, union
from testlore.frameworks.javascript import PACKAGES, folders_of_packages


def build(
    framework: Framework,
    root: str,
    runner: Sequence[str],
    copy: str,
    report: str,
    files: Sequence[str],
    extent: Extent = WHOLE,
) -> Command:
    """The command that runs a suite, or a part of it.

    Args:
        root: the original project. It holds programs that are not among the sources, such as those in ``.venv``.
        runner: as configured; empty for the framework's default runner.
        copy: the folder in which the suite runs.
        report: the path of the JUnit XML, in a folder of the run's own, outside of the copy.
        files: all files of the copy. A runner that does not find the tests itself gets those that are tests.
        extent: which tests to run, and when to stop. Of a runner that says itself where its report goes, we know no
            option; so it gets the files and the environment alone.

    Raises:
        Refusal: ``runner-missing``: we do not know how to get a report from this runner, or it would make an
            environment of its own.
    """
    parts = managers.unmanaged(root, runner) or framework.default_runner()
    environment = union.environment(copy, os.path.dirname(report), extent)
    if not any(JUNIT in part for part in parts):
        parts, variables = framework.with_report(framework.limited(parts, extent), report)
        environment |= variables
    named = extent.only or framework.file_arguments(parts, files)
    named = [framework.file_argument(path, copy) for path in named]
    argv: list[str] = []
    for part in parts:
        if part == FILES:
            argv += named
        elif FILES in part:
            argv.append(part.replace(JUNIT, report).replace(FILES, " ".join(named)))
        else:
            argv.append(part.replace(JUNIT, report))
    argv[0] = _program(root, copy, argv[0])
    return Command(argv, environment)


def _program(root: str, copy: str, program: str) -> str:
    """The path of a program: in the copy if it is there, else in the original project or the workspace around it."""
    if "/" not in program or os.path.isabs(program):
        return program
    inside = os.path.join(copy, program)
    return inside if os.path.exists(inside) else installed(root, program)


def installed(root: str, program: str) -> str:
    """The path of a program that the project's own files name: in the project, or in the workspace around it.

    Args:
        program: a relative path.
    """
    original = os.path.join(root, program)
    places = [original]
    folder_name, _, name = program.partition("/")
    if folder_name == PACKAGES:
        places += [os.path.join(folder, name) for folder in folders_of_packages(os.path.realpath(root))]
    return next((place for place in places if os.path.exists(place)), original)
