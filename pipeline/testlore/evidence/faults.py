"""Who sees a fault: the new cases, the original suite, any case of the candidate's suite.

A fault is *seen* by a case that passes without it and fails with it, in a complete run. A crash alone proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from testlore.evidence import cases
from testlore.evidence.cases import Key, NewCase
from testlore.evidence.observation import FaultRuns, Observation, SuiteRun
from testlore.frameworks import Framework


class FaultVerdict(NamedTuple):
    """Who sees a fault.

    Attributes:
        name, kind: of the fault.
        original: whether the original suite sees it; ``None`` where it was not asked.
        new: whether a new case sees it, and gets the credit.
        candidate: whether any case of the candidate's suite sees it.
        applies: whether it can be seen at all.
    """

    name: str
    kind: str
    original: bool | None
    new: bool
    candidate: bool
    applies: bool = True

    @property
    def closes_gap(self) -> bool:
        """Whether a new case sees what the original suite misses."""
        return self.new and self.original is False


def of_fault(framework: Framework, observed: Observation, new: Sequence[NewCase], runs: FaultRuns) -> FaultVerdict:
    """Who sees a fault."""
    good = cases.passed(observed.candidate.run).difference(*map(cases.failed, observed.repeats))
    red = cases.failed(runs.new) if runs.new and cases.is_complete(framework, runs.new) else set()
    sees = cases.common(cases.common({one.key for one in new}, good), red)
    seeing = [one for one in new if one.key in sees]
    ignored = cases.unstable_old(observed, new)
    return FaultVerdict(
        runs.name,
        runs.kind,
        original=None if runs.original is None else suite_sees(framework, observed.original, runs.original, ignored),
        new=any(not one.beyond or _is_missed(framework, one, runs.original) for one in seeing),
        candidate=bool(seeing) or suite_sees(framework, observed.candidate, runs.candidate, ignored),
        applies=runs.applies,
    )


def suite_sees(framework: Framework, clean: SuiteRun, broken: SuiteRun | None, ignored: Set[Key]) -> bool:
    """Whether a case of a suite passes without a fault, and fails with it again and again."""
    if broken is None or not cases.is_complete(framework, broken.run):
        return False
    return bool(cases.common(cases.failed(broken.run), cases.passed(clean.run)) - cases.unstable(broken) - ignored)


def _is_missed(framework: Framework, one: NewCase, broken: SuiteRun | None) -> bool:
    """Whether the original's case of this name misses a fault. Where it was not asked, none is."""
    if broken is None or not cases.is_complete(framework, broken.run):
        return False
    return one.key[0] not in {name for name, _ in cases.failed(broken.run) - cases.unstable(broken)}
