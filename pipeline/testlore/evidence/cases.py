"""Which cases of a candidate are new, and which of the original are lost, outdated or unstable.

A case is known by its name and its file. Addresses and random values in names are left out, since they differ from run
to run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

from testlore.evidence import functions
from testlore.evidence.junit import Case
from testlore.evidence.observation import Observation, SuiteRun
from testlore.evidence.running import Run, is_coherent
from testlore.frameworks import Framework, union

#: A case: its name without what differs from run to run, and its file.
Key = tuple[str, str]

# Addresses, UUIDs, long hexadecimal and decimal numbers, and fractions with many digits.
_UNSTABLE = re.compile(
    r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|"
    r"(?<![0-9A-Za-z])(?=[0-9a-f]*[0-9])[0-9a-f]{16,}(?![0-9A-Za-z])|[0-9]+\.[0-9]{10,}|[0-9]{10,}"
)
_OMITTED = "#"


class NewCase(NamedTuple):
    """A case that a candidate brings.

    Attributes:
        name: as the report names it.
        file: its file; empty when the report does not say it.
        outcome: ``passed``, ``failed`` or ``skipped``.
        beyond: whether it may be an old case: it is credited only with what the original's case of its name misses.
    """

    name: str
    file: str
    outcome: str
    beyond: bool = False

    @property
    def key(self) -> Key:
        """By which runs know it."""
        return plain(self.name), self.file


def plain(name: str) -> str:
    """A case's name without addresses and random values."""
    return _UNSTABLE.sub(_OMITTED, name)


def key(case: Case) -> Key:
    """By which runs know a case."""
    return plain(case.name), case.file


def failed(run: Run) -> set[Key]:
    """The cases that failed."""
    return {key(case) for case in run.cases if case.outcome == "failed"}


def passed(run: Run) -> set[Key]:
    """The cases that passed, each time that they ran."""
    return {key(case) for case in run.cases if case.outcome == "passed"} - failed(run)


def common(left: Set[Key], right: Set[Key]) -> set[Key]:
    """The cases of one run that another run has too. One of them may not say the file of a case."""
    names, unnamed = {name for name, _ in right}, {name for name, file in right if not file}
    return {
        (name, file) for name, file in left if (name, file) in right or name in unnamed or (not file and name in names)
    }


def is_complete(framework: Framework, run: Run) -> bool:
    """Whether a run says that it is complete, and its cases and exit status agree."""
    failed = run.count("failed") > 0
    coherent = is_coherent(framework, run.status, failed=failed, stopped_early=run.stopped_early)
    return run.complete and run.count() > 0 and coherent


def unstable(suite: SuiteRun) -> set[Key]:
    """The cases that failed in a suite, and passed in a rerun."""
    return common(failed(suite.run), set().union(*map(passed, suite.reruns)))


def unstable_old(observed: Observation, new: Iterable[NewCase]) -> set[Key]:
    """The old cases that fail and pass. Whether a new one is flaky is asked apart."""
    found = unstable(observed.original) | unstable(observed.candidate)
    return found - {one.key for one in new}


def outdated(manifest: Mapping[str, Any], observed: Observation) -> set[Key]:
    """The cases that fail in the original suite, and that the candidate changes or removes."""
    touched = {*(file["path"] for file in manifest["files"]), *manifest["delete"]}
    still = failed(observed.candidate.run)
    found = failed(observed.original.run) - unstable(observed.original)
    return {one for one in found if one[1] in touched and (one not in still or _differs(observed, one))}


def _differs(observed: Observation, one: Key) -> bool:
    """Whether a case of a changed file may have changed itself."""
    name, file = one
    place = (file, functions.of_case(name))
    compared = observed.functions
    return file not in compared.known or place in compared.differs or place in compared.redecorated


def new_cases(manifest: Mapping[str, Any], observed: Observation) -> list[NewCase]:
    """The new cases of a candidate, by file and name."""
    known = {plain(name) for name in observed.original.run.names()}
    renamed = _with_unstable_names(observed)
    found: dict[Key, NewCase] = {}
    old: dict[str, list[NewCase]] = {}  # of the changed files whose functions are not known
    changed = {file["path"] for file in manifest["files"]}
    for case in sorted(observed.candidate.run.cases):
        beyond = _is_new(observed, case, known, renamed)
        one = NewCase(*case, beyond=bool(beyond))
        if beyond is not None:
            found.setdefault(one.key, one)
        elif case.file in changed and case.file not in observed.functions.known:
            old.setdefault(case.file, []).append(one)
    bringing = {one.file for one in found.values()}
    for file, cases in old.items():
        if file not in bringing:
            found.update((one.key, one._replace(beyond=True)) for one in cases)
    return sorted(found.values(), key=lambda one: (one.file, one.name))


def _is_new(observed: Observation, case: Case, known: set[str], renamed: set[Key]) -> bool | None:
    """Whether a case of the candidate is new: ``None`` if not; true if only what its name misses is to its credit."""
    compared = observed.functions
    place = (case.file, functions.of_case(case.name))
    if case.file in compared.known:
        if place in compared.moved:
            return None
        if place in compared.differs:
            return False
        if place in compared.redecorated:
            return plain(case.name) in known
    return None if plain(case.name) in known or key(case) in renamed else False


def _with_unstable_names(observed: Observation) -> set[Key]:
    """The cases of unchanged Python functions that have other names in each run, as random parameters give them."""
    before, after = ({key(case) for case in suite.run.cases} for suite in (observed.original, observed.candidate))
    vanished = {(file, functions.of_case(name)) for name, file in before - after if file.endswith(".py")}
    compared = observed.functions
    changed = compared.differs | compared.redecorated
    appeared = {(name, file): (file, functions.of_case(name)) for name, file in after - before}
    return {one for one, place in appeared.items() if place in vanished and place not in changed}


def unstable_names(observed: Observation) -> list[str]:
    """The names of cases that differ from run to run, sorted."""
    found = {case.name for case in observed.candidate.run.cases if plain(case.name) != case.name}
    return sorted(found | {name for name, _ in _with_unstable_names(observed)})


def flaky(new: Iterable[NewCase], observed: Observation) -> list[NewCase]:
    """The new cases that passed and failed."""
    runs = [observed.candidate.run, *observed.repeats]
    good, bad = (set().union(*(side(run) for run in runs)) for side in (passed, failed))
    return [one for one in new if common({one.key}, good) and common({one.key}, bad)]


def lost(manifest: Mapping[str, Any], observed: Observation) -> Counter[str]:
    """How many cases of the original are gone or no longer run, by name. Cases of a Python function are counted."""
    ignored = outdated(manifest, observed) | unstable(observed.original)
    before = [case for case in observed.original.run.cases.elements() if key(case) not in ignored]
    after = list(observed.candidate.run.cases.elements())
    gone: Counter[str] = Counter()
    for counts in ((lambda case: True), (lambda case: case.outcome != "skipped")):
        gone |= _fewer([case for case in before if counts(case)], [case for case in after if counts(case)], observed)
    return gone


def _fewer(before: list[Case], after: list[Case], observed: Observation) -> Counter[str]:
    """How many cases of one list the other one lacks. What moved to another file or name is there."""
    left = Counter(map(_unit, after))
    moved = {old: new for new, old in observed.functions.moved.items()}
    gone: Counter[str] = Counter()
    searched: Counter[functions.Place] = Counter()
    for unit, count in sorted(Counter(map(_unit, before)).items()):
        place = unit if unit in left else moved.get(unit, unit)
        there = min(count, left[place])
        left[place] -= there
        if count > there:
            searched[unit] = count - there
    for unit, count in searched.items():
        for place in [place for place in left if place[1] == unit[1]]:
            there = min(count, left[place])
            left[place] -= there
            count -= there
        gone += Counter(_names(unit, count, before, after))
    return gone


def _unit(case: Case) -> functions.Place:
    """What a case is counted by: for Python its file and function, else its file and name."""
    return case.file, functions.of_case(case.name) if case.file.endswith(".py") else plain(case.name)


def _names(unit: functions.Place, count: int, before: list[Case], after: list[Case]) -> list[str]:
    """The names of as many lost cases of one unit: first those that are named no more."""
    there = {case.name for case in after}
    names = sorted({case.name for case in before if _unit(case) == unit}, key=lambda name: (name in there, name))
    return [*names, *[unit[1]] * count][:count]


def changed_tests(manifest: Mapping[str, Any], run: Run) -> list[str]:
    """The paths of those files of a candidate that are tests, by their names or because cases in them ran."""
    ran = {case.file for case in run.cases}
    paths = [file["path"] for file in manifest["files"]]
    return [path for path in paths if path in ran or union.is_test_file(path)]


def unattributed(manifest: Mapping[str, Any], run: Run) -> list[str]:
    """The changed test files that a report shows no executed case of, if some of its cases name no file."""
    if not any(not case.file for case in run.cases):
        return []
    return [path for path in changed_tests(manifest, run) if not has_run(run, path)]


def has_run(run: Run, path: str, *, unnamed: bool = False) -> bool:
    """Whether a case of a file ran.

    Args:
        unnamed: whether a case that names no file counts too.
    """
    return any((case.file == path or (unnamed and not case.file)) and case.outcome != "skipped" for case in run.cases)


def files_of(new: Iterable[NewCase], manifest: Mapping[str, Any], run: Run) -> list[str]:
    """The files that hold the new cases, sorted. Where the report names none, all changed tests."""
    files = {one.file for one in new}
    if "" in files:
        files |= set(changed_tests(manifest, run))
    return sorted(files - {""})
