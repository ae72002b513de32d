"""What tests are about: the project's files and functions that they run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from testlore.evidence import measures
from testlore.evidence.junit import Case
from testlore.evidence.measures import Calls
from testlore.frameworks import Framework, languages, union
from testlore.memory import episode, texts

_TEST_FOLDERS = frozenset(["test", "tests", "__tests__", "spec", "specs"])


class Subject(NamedTuple):
    """What some cases are about. What the fewest cases run comes first, since it tells them from others.

    Attributes:
        files: the source files that they run, with the digests of their bytes.
        symbols: the names of the functions in them that they run.
        many: whether they run more files than ``files`` can hold.
        measured: whether this was measured. If not, it is what the test files import.
    """

    files: list[tuple[str, str]] = []  # noqa: RUF012
    symbols: list[str] = []  # noqa: RUF012
    many: bool = False
    measured: bool = False


def environment(framework: Framework, folder: str) -> dict[str, str]:
    """The environment variables with which a run is measured.

    Args:
        folder: a disposable folder for the data, outside of the copy. It is made if it is missing.
    """
    os.makedirs(folder, exist_ok=True)
    return measures.measure(framework.MEASURE).environment(folder)


def of_run(framework: Framework, copy: str, folder: str, cases: Iterable[Case], digests: Mapping[str, str]) -> Subject:
    """What some cases of a measured run are about. Call it before the copy is put back.

    Where the run could not be measured, as when the suite measures itself, it is told from what the files import.

    Args:
        copy: the copy that was tested.
        folder: the folder of :func:`environment`.
        cases: the cases; one without a name stands for all cases of its file.
        digests: the project's source files, with the digests of their bytes.
    """
    wanted = list(cases)
    tests = sorted({case.file for case in wanted if case.file})
    folders = _test_folders(digests, tests)

    sources = {path for path in digests if languages.is_code(path) and not _is_test(path, tests, folders)}
    for name in dict.fromkeys((framework.MEASURE, measures.BY_IMPORTS)):
        measure = measures.measure(name)
        calls = measure.calls(folder, copy, tests, sources)
        runners = {runner for functions in calls.values() for named in functions.values() for runner in named}
        own = measure.runners_of(wanted, runners)
        if own:
            return _rarest_first(calls, own, digests)._replace(measured=measure.IS_RUN)
    return Subject()


def _test_folders(digests: Mapping[str, str], tests: list[str]) -> frozenset[str]:
    """The folders that are named as such and hold tests. What else is in them helps the tests."""
    found = set()
    for path in (*digests, *tests):
        parts = path.split("/")[:-1]
        if not _TEST_FOLDERS.isdisjoint(parts) and (path in tests or union.is_test_file(path)):
            last = max(at for at, part in enumerate(parts) if part in _TEST_FOLDERS)
            found.add("/".join(parts[: last + 1]))
    return frozenset(found)


def _is_test(path: str, tests: list[str], folders: frozenset[str]) -> bool:
    """Whether a file is a test, or helps tests."""
    parts = path.split("/")
    if path in tests or union.is_test_file(path) or union.supports_tests(parts[-1]):
        return True
    return any("/".join(parts[:depth]) in folders for depth in range(1, len(parts)))


def _rarest_first(calls: Calls, own: set[str], digests: Mapping[str, str]) -> Subject:
    """The files and functions that these runners ran."""
    symbols: dict[str, int] = {}
    files: dict[str, int] = {}
    for path, functions in calls.items():
        for name, runners in functions.items():
            if runners & own:
                files[path] = min(files.get(path, len(runners)), len(runners))
                if 0 < len(name) <= texts.SYMBOL:
                    symbols[name] = min(symbols.get(name, len(runners)), len(runners))
    fitting = [path for path in _by_number(files) if len(path) <= texts.PATH]
    return Subject(
        [(path, digests[path]) for path in fitting[: texts.FILES]],
        _by_number(symbols)[: episode.MAX_SYMBOLS],
        many=len(fitting) < len(files) or len(files) > texts.FILES,
    )


def _by_number(found: Mapping[str, int]) -> list[str]:
    """The rarest first; of equally rare functions first those that are not private."""
    return sorted(found, key=lambda name: (found[name], name.rpartition(".")[2].startswith("_"), name))
