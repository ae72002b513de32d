"""Measures how well recall finds the right episode, on a git history.

Each question is a commit's subject. The right answer is the tests that this commit added, among those of up to 200
commits. The questions go through the real stages, in a disposable project.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from testlore import canonical, libraries, programs
from testlore.errors import Fallback, Unusable
from testlore.evaluate import disposable, inherited, questions
from testlore.evaluate.questions import Question
from testlore.evidence import room
from testlore.project import settings, temporary
from testlore.project.safe_files import existing_folder
from testlore.project.settings import Settings
from testlore.ranking.fusion import RankedEpisode
from testlore.stages import recall
from testlore.stages.call import MAX_LIMIT
from testlore.stages.session import Session

MRR_AT = 10
RECALL_AT = (1, 5, 20)

#: Called with the number of finished steps and the number of all steps.
Progress = Callable[[int, int], None]


class Figures(NamedTuple):
    """How well one ranking finds the right answers.

    Attributes:
        name: the ranking.
        ranks: the rank of each right answer, from 1; 0 where it is not among the first 20.
        reason: why it could not be measured, a fallback word with its hint; or empty.
    """

    name: str
    ranks: list[int]
    reason: str = ""

    def mrr(self) -> float | None:
        """The mean reciprocal rank at 10, from 0 to 1. A right answer after the tenth place counts as 0."""
        if not self.ranks:
            return None
        return sum(1 / rank for rank in self.ranks if 0 < rank <= MRR_AT) / len(self.ranks)

    def recall_at(self, k: int) -> float | None:
        """The fraction of the questions whose right answer is among the first ``k`` records, from 0 to 1."""
        if not self.ranks:
            return None
        return sum(0 < rank <= k for rank in self.ranks) / len(self.ranks)


class Evaluation(NamedTuple):
    """The figures of a repository.

    Attributes:
        repository: the name of its folder.
        head: the newest commit of the history.
        commits: the commits that the questions come from, newest first.
        dimensions: the length of the native vectors.
        figures: those of each ranking.
    """

    repository: str
    head: str
    commits: list[str]
    dimensions: int
    figures: list[Figures]

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as JSON."""
        return {
            "repository": self.repository,
            "head": self.head,
            "cases": len(self.commits),
            "newest": self.commits[0] if self.commits else None,
            "oldest": self.commits[-1] if self.commits else None,
            "dimensions": self.dimensions,
            "figures": [
                {
                    "name": one.name,
                    **({"reason": one.reason} if one.reason else {}),
                    "mrrAt10": _rounded(one.mrr()),
                    "recallAt": {str(k): _rounded(one.recall_at(k)) for k in range(1, MAX_LIMIT + 1)},
                }
                for one in self.figures
            ],
        }

    def to_table(self) -> str:
        """The evaluation as a table, for people."""
        with libraries.installed():
            from tabulate import tabulate

        rows = [
            (one.name, *([one.reason] if one.reason else map(_shown, (one.mrr(), *map(one.recall_at, RECALL_AT)))))
            for one in self.figures
        ]
        headers = ("", f"MRR@{MRR_AT}", *(f"recall@{k}" for k in RECALL_AT))
        table = tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True)
        count = f"{len(self.commits)} case{'' if len(self.commits) == 1 else 's'}"
        return f"{table}\n\n{count} of {self.repository} at {self.head[:12]}.\n"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def measure(repository: str, root: str, progress: Progress = lambda done, of: None) -> Evaluation:
    """Measure every ranking on the history of a repository. Nothing in the repository is run.

    Args:
        repository: a folder that git knows.
        root: the project whose configuration gives the dimensions, the engine and the embedding command.

    Raises:
        Unusable: ``call-invalid``: there is no history; ``configuration-invalid``.
        Refusal: ``no-room``, ``copy-unwritable``.
    """
    project = existing_folder(root)
    original = settings.parse(settings.read(project))
    configured, trusted = _elsewhere(project, original), programs.are_trusted(project, original, *programs.RECALL)
    found = questions.read(existing_folder(repository, "repo"))
    steps = _Steps(len(found) * (3 if configured.embedding == "command" else 2), progress)
    documents = [question.tests for question in found]
    shared = [_rank(inherited.shared_words(one.query, documents), n) for n, one in enumerate(found)]
    hashed = [_rank(inherited.hashed_words(one.query, documents), n) for n, one in enumerate(found)]
    figures = [
        Figures("shared words (inherited)", shared),
        Figures(f"hashed words, {inherited.DIMENSIONS} dimensions (inherited)", hashed),
        _through_stages("lexical", found, configured, "feature-vectors", recall.lexically, steps, trusted),
        _through_stages(
            f"native, {configured.dimensions} dimensions",
            found,
            configured,
            "feature-vectors",
            recall.natively,
            steps,
            trusted,
        ),
    ]
    if configured.embedding == "command":
        name = f"external-embedding ({configured.identity})"
        figures.append(_through_stages(name, found, configured, "command", recall.natively, steps, trusted))
    name = os.path.basename(os.path.realpath(repository))
    commits = [question.commit for question in found]
    return Evaluation(name, questions.head(repository), commits, configured.dimensions, figures)


class _Steps:
    def __init__(self, total: int, progress: Progress) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def next(self) -> None:
        self._done += 1
        self._progress(self._done, self._total)


def _elsewhere(root: str, configured: Settings) -> Settings:
    """The project's settings, with absolute paths in the embedding command, so that it starts in any folder.

    Raises:
        Unusable: ``configuration-invalid``.
    """
    if configured.plugin_problem:
        raise Unusable("configuration-invalid", configured.plugin_problem)
    absolute = (os.path.abspath(os.path.join(root, part)) for part in configured.argv)
    argv = [path if os.path.isfile(path) else part for part, path in zip(configured.argv, absolute, strict=True)]
    return configured._replace(argv=tuple(argv))


def _through_stages(
    name: str,
    found: Sequence[Question],
    configured: Settings,
    embedding: str,
    rank: Callable[[Session, int], list[RankedEpisode]],
    steps: _Steps,
    trusted: bool,
) -> Figures:
    where = "the folder for temporary files"
    try:
        where = temporary.place()
        with temporary.in_system() as root:
            ids = disposable.write(root, found, configured, embedding)
            return _in_disposable(root, ids, name, found, rank, steps, trusted)
    except OSError as error:
        least = sum(len(canonical.to_bytes(question.tests)) + 4 * configured.dimensions for question in found)
        raise room.refusal(
            error, where, f"a memory of {len(found)} answers and its index need more than {least} bytes"
        ) from None


def _in_disposable(
    root: str,
    ids: Sequence[str],
    name: str,
    found: Sequence[Question],
    rank: Callable[[Session, int], list[RankedEpisode]],
    steps: _Steps,
    trusted: bool,
) -> Figures:
    """Ask the questions in a disposable project.

    Raises:
        OSError: there is no room for its cache.
    """
    ranks: list[int] = []
    for question, right in zip(found, ids, strict=True):
        session = Session(root, question.query, trusted=trusted)
        try:
            ranked = [one.record["id"] for one in rank(session, MAX_LIMIT)]
        except Fallback as fallback:
            cause = fallback.__context__
            if isinstance(cause, OSError) and cause.errno in room.FULL:
                raise cause from None
            if fallback.word not in ("ruvector-no-applicable-hits", "ruvector-empty-feature-query"):
                return Figures(name, [], str(fallback))
            ranked = [one.record["id"] for one in recall.lexically(session, MAX_LIMIT)]
        finally:
            session.close()
        ranks.append(ranked.index(right) + 1 if right in ranked else 0)
        steps.next()
    return Figures(name, ranks)


def _rank(scores: Sequence[float], right: int) -> int:
    """The rank of a document by these scores, newer first among equals; 0 for a score of 0 or a rank above 20."""
    if scores[right] <= 0:
        return 0
    better = sum(score > scores[right] or (score == scores[right] and n < right) for n, score in enumerate(scores))
    return better + 1 if better < MAX_LIMIT else 0
