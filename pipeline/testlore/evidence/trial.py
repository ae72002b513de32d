"""Runs what the verdict on a candidate needs to know, and nothing that cannot change it.

::

    original, candidate    whole suites; the original is not run again where its run is kept
    subject                of the new cases' files, measured: what do these cases run?
    reruns                 of the files in which old cases failed: do these fail each time?
    repeats                of the new cases' files: do these cases pass each time?
    for each fault         new cases' files -> original suite -> candidate's suite, as far as the answer matters
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from testlore.evidence import cases, faults, functions, verdict
from testlore.evidence.bench import Bench, Request
from testlore.evidence.candidate import Candidate
from testlore.evidence.cases import NewCase
from testlore.evidence.junit import Case
from testlore.evidence.observation import Fault, FaultRuns, Observation, SuiteRun, only_failed
from testlore.evidence.patch import MAX_CONTENT_BYTES
from testlore.evidence.running import Run
from testlore.evidence.subject import Subject
from testlore.frameworks import union
from testlore.project import safe_files

_RERUNS = 2
_LANGUAGE = ".py"


def given_faults(staged: Candidate) -> list[Fault]:
    """The held-out defects of a candidate."""
    defects = zip(staged.manifest["heldOutDefects"], staged.defects, strict=True)
    return [Fault(one["name"], "given", {one["path"]: content}) for one, content in defects]


class Trial:
    """The trial of one candidate.

    Args:
        root: the project.
        staged: the candidate.
        tried: the faults that its cases should see.
        bench: where suites run.
        repeats: how often the new cases run once more.
    """

    def __init__(self, root: str, staged: Candidate, tried: Sequence[Fault], bench: Bench, repeats: int) -> None:
        self._root, self._staged, self._faults, self._bench, self._repeats = root, staged, tried, bench, repeats
        self._base = _base(root, staged)

    def observe(self, kept: Run | None) -> Observation:
        """Run everything.

        Args:
            kept: the run of the original suite, where it is known.

        Raises:
            Refusal: as :meth:`Bench.run` raises it.
        """
        bench = self._bench
        bench.planned = (0 if kept else 1) + 2 + self._repeats + 2 * len(self._faults)
        original, candidate, again = self._suites(kept)
        seen = Observation(original, candidate, repeats=again)
        if not bench.is_complete(original.run):
            original, unimportable = self._without_unimportable(original.run)
            seen = seen._replace(original=original, unimportable=unimportable)
        seen = seen._replace(functions=self._compare(seen.original.run))
        seen = self._with_reruns(seen)
        if verdict.unjudgeable(self._staged.manifest, seen) or not bench.is_complete(candidate.run):
            return seen
        seen = seen._replace(changed=self._changed(candidate.run))
        new = cases.new_cases(self._staged.manifest, seen)
        files = cases.files_of(new, self._staged.manifest, candidate.run)
        if new:
            seen = seen._replace(subject=self._subject(files, new))
        if files:
            files, repeats = self._repeated(files, new)
            seen = seen._replace(repeats=[*seen.repeats, *repeats])
        if self._faults and verdict.can_see_faults(bench.framework, seen, new):
            tried = bench.each(lambda fault: self._try(fault, seen, new, files), self._faults)
            seen = seen._replace(faults=tried)
        return seen

    def _request(self, about: str, *, proposed: bool, fault: Fault | None = None, **more: Any) -> Request:
        files = {**(self._staged.files if proposed else {}), **(fault.files if fault else {})}
        with_fault = f" with {fault.name}" if fault else ""
        deleted = self._staged.manifest["delete"] if proposed else []
        return Request(f"{about}{with_fault}", files, deleted, **more)

    def _suites(self, kept: Run | None) -> tuple[SuiteRun, SuiteRun, list[Run]]:
        """The runs of both suites, and another run of the candidate's that may tell of flaky cases."""
        bench = self._bench
        requests = [
            *([] if kept else [self._request("the project's own suite", proposed=False)]),
            self._request("the suite with the candidate", proposed=True),
        ]
        first = bench.each(bench.run, requests)
        final = list(first)
        if bench.is_parallel and len(requests) > 1:
            for at, run in enumerate(first):
                if not bench.is_green(run):
                    final[at] = bench.run_alone(requests[at])
                    if bench.is_green(final[at]):
                        bench.one_at_a_time()
        original = kept or final[0]
        # Red beside the other suite, and green alone: only if cases of the original were red it was the company.
        again = [run for run in first[-1:] if run is not final[-1] and bench.is_green(final[-1])]
        old = {cases.key(case) for case in original.cases}
        return SuiteRun(original), SuiteRun(final[-1]), [run for run in again if not cases.failed(run) & old]

    def _without_unimportable(self, whole: Run) -> tuple[SuiteRun, list[str]]:
        """The original suite without those test files that it cannot load, and that the candidate changes or deletes.

        Args:
            whole: the incomplete run of all files.

        Returns:
            Its run, and these files.
        """
        request = self._request("the project's own suite", proposed=False)
        suspects = sorted(path for path in self._base if union.is_test_file(path))
        if whole.problem != "collection-failed" or not suspects:
            return SuiteRun(whole), []
        rest = self._bench.run(request._replace(deleted=suspects))
        alone = {path: self._bench.run(request._replace(only=[path])) for path in suspects}
        unimportable = [path for path, run in alone.items() if run.problem == "collection-failed"]
        loaded = [run for path, run in alone.items() if path not in unimportable]
        if not unimportable or not all(map(self._bench.is_complete, [rest, *loaded])):
            return SuiteRun(whole), []
        counted = sum((run.cases for run in loaded), rest.cases)
        status = max([rest, *loaded], key=lambda run: run.status or 0).status
        return SuiteRun(Run("", status, counted)), unimportable

    def _compare(self, original: Run) -> functions.Comparison:
        """How the candidate's Python functions differ from the project's."""
        before = {path: content for path, content in self._base.items() if path.endswith(_LANGUAGE)}
        after = {path: content for path, content in self._staged.files.items() if path.endswith(_LANGUAGE)}

        def others() -> Mapping[str, bytes]:
            files = {case.file for case in original.cases if case.file.endswith(_LANGUAGE)}
            return _read(self._root, sorted(files - self._base.keys() - after.keys()))

        return functions.compare(before, after, others)

    def _with_reruns(self, seen: Observation) -> Observation:
        """Run those files again in which old cases failed, and might pass."""
        manifest = self._staged.manifest
        outdated = cases.outdated(manifest, seen)
        red = cases.failed(seen.original.run) - outdated
        if red and self._bench.is_complete(seen.original.run):
            reruns = self._rerun(self._request("a rerun", proposed=False), red)
            seen = seen._replace(original=seen.original._replace(reruns=reruns))
        new = {one.key for one in cases.new_cases(manifest, seen)}
        red = cases.failed(seen.candidate.run) - new
        if red and self._bench.is_complete(seen.candidate.run):
            reruns = self._rerun(self._request("a rerun", proposed=True), red)
            seen = seen._replace(candidate=seen.candidate._replace(reruns=reruns))
        return seen

    def _rerun(self, request: Request, red: set[cases.Key]) -> list[Run]:
        """Run the files of failed cases again, until each has passed, at most twice."""
        runs: list[Run] = []
        while red and len(runs) < _RERUNS:
            files = {file for _, file in red}
            run = self._bench.run(request._replace(only=[] if "" in files else sorted(files), stop_early=False))
            counts = Counter({case: n for case, n in run.cases.items() if cases.key(case) in red})
            runs.append(run._replace(cases=counts))
            red = red - cases.passed(run)
        return runs

    def _changed(self, candidate: Run) -> dict[str, Run]:
        """The runs of those changed test files by themselves that the candidate's report does not name."""
        paths = cases.unattributed(self._staged.manifest, candidate)
        requests = [self._request(path, proposed=True, only=[path]) for path in paths]
        return dict(zip(paths, self._bench.each(self._bench.run, requests), strict=True))

    def _repeated(self, files: list[str], new: Sequence[NewCase]) -> tuple[list[str], list[Run]]:
        """Run the new cases' files again: once if one of these cases failed, to see whether it does so each time.

        Returns:
            The files that were run, none for all of them, and the runs.
        """
        bench = self._bench
        request = self._request("the new cases again", proposed=True, only=files)
        if any(one.outcome == "failed" for one in new):
            return files, [bench.run_alone(request)]
        ran = {one.key for one in new if one.outcome != "skipped"}
        # One after another: beside each other they might be in each other's way, and that is no fault of theirs.
        runs = [bench.run_alone(request) for _ in range(self._repeats)]
        if all(bench.is_complete(run) and cases.common(ran, set(map(cases.key, run.cases))) == ran for run in runs):
            return files, runs
        # They do not run by themselves, as where a threshold of coverage holds for each run, or have other names then.
        whole = request._replace(only=[])
        return [], [bench.run_alone(whole) for _ in range(self._repeats)]

    def _subject(self, files: list[str], new: Sequence[NewCase]) -> Subject:
        """What the new cases run. Where the report does not name their files, all cases of these files count."""
        named = [Case(one.name, one.file, one.outcome) for one in new if one.file]
        unnamed = [] if len(named) == len(new) else [Case("", path, "") for path in files]
        return self._bench.measure(self._request("what they run", proposed=True, only=files), [*named, *unnamed])

    def _try(self, fault: Fault, seen: Observation, new: Sequence[NewCase], files: list[str]) -> FaultRuns:
        """Who sees a fault: the new cases, then the original suite, then the candidate's, as far as it matters."""
        framework = self._bench.framework
        runs = FaultRuns(fault.name, fault.kind, sorted(fault.files))
        if new:
            request = self._request("the new cases", proposed=True, fault=fault, only=files)
            runs = runs._replace(new=self._decided(request, seen, stop_early=self._all_decide(seen, new)))
        judged = faults.of_fault(framework, seen, new, runs)
        beyond = any(one.beyond for one in new)
        if judged.new or beyond or fault.kind == "given":
            request = self._request("the project's own suite", proposed=False, fault=fault)
            runs = runs._replace(original=self._suite(request, seen, new, seen.original, stop_early=not beyond))
            judged = faults.of_fault(framework, seen, new, runs)
        # What only adds tests sees no more than the original does, but it may get in the original's way.
        if fault.kind == "given" and not judged.candidate and (judged.original or self._base):
            request = self._request("the suite with the candidate", proposed=True, fault=fault)
            sure = runs.original and cases.failed(runs.original.run) - cases.unstable(runs.original)
            runs = runs._replace(candidate=self._suite(request, seen, new, seen.candidate, sure=sure or frozenset()))
        return runs

    def _all_decide(self, seen: Observation, new: Sequence[NewCase]) -> bool:
        """Whether each case of the new cases' files is new, so that whichever fails first decides."""
        keys = {one.key for one in new if not one.beyond}
        return all(cases.key(case) in keys for run in seen.repeats[-1:] for case in run.cases)

    def _decided(self, request: Request, seen: Observation, *, stop_early: bool) -> Run:
        """A run of the new cases with a fault, without what says nothing about it."""
        run = self._bench.run(request._replace(stop_early=stop_early))
        if stop_early and cases.failed(run) and not cases.failed(run) & cases.passed(seen.candidate.run):
            run = self._bench.run(request)
        return only_failed(run)

    def _suite(
        self,
        request: Request,
        seen: Observation,
        new: Sequence[NewCase],
        clean: SuiteRun,
        *,
        stop_early: bool = True,
        sure: Set[cases.Key] = frozenset(),
    ) -> SuiteRun:
        """A run of a whole suite with a fault, and the reruns of the files in which cases failed.

        Args:
            clean: the runs of the same suite without the fault.
            sure: cases that need no rerun: they failed with this fault each time.
        """
        ignored = cases.unstable_old(seen, new)
        for early in [True, False] if stop_early else [False]:
            run = self._bench.run(request._replace(stop_early=early))
            telling = cases.common(cases.failed(run), cases.passed(clean.run)) - ignored
            found = SuiteRun(only_failed(run), self._rerun(request, telling) if telling.isdisjoint(sure) else [])
            decided = faults.suite_sees(self._bench.framework, clean, found, ignored)
            if decided or not cases.failed(run) or not self._bench.is_complete(run):
                break
        return found


def _base(root: str, staged: Candidate) -> dict[str, bytes]:
    """The project's own contents of the files that a candidate replaces or deletes, by path."""
    return _read(root, [*staged.files, *staged.manifest["delete"]])


def _read(root: str, paths: Sequence[str]) -> dict[str, bytes]:
    found = {}
    for path in paths:
        try:
            found[path] = safe_files.read_file(root, path, 8 * MAX_CONTENT_BYTES)
        except OSError:
            continue
    return found
