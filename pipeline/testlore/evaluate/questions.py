"""Questions from a git history: a commit's subject asks for the tests that this commit added.

Nothing in the repository is run: hooks, pager, external diffs, text converters, signature programs and transports are
off, and its files are only read as text.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from typing import IO, NamedTuple

from testlore import canonical
from testlore.errors import Unusable
from testlore.frameworks import languages
from testlore.project import git

MOST_QUESTIONS = 200
MOST_HUNKS = 6
MOST_CHARACTERS = 1_200  # UTF-16 code units; a pattern of the canonical store may have as many

_LEAST_WORDS = 3
_LATEST = 253402300799  # the last second of the year 9999, since a commit may claim any time
_TEST_FOLDER = re.compile(r"(^|/)(tests?|testing|__tests__|specs?)/", re.IGNORECASE)
_TEST_NAME = re.compile(r"^(test[_-].*|tests?|.*[._-](test|tests|spec))$", re.IGNORECASE)
_PYTHON_TEST = re.compile(r"^\s*(async\s+)?def\s+test|^\s*class\s+Test", re.MULTILINE)
_JAVASCRIPT_TEST = re.compile(r"\b(it|test|describe|suite)(\.\w+)*\s*(\([^()'\"`]*\)\s*)?\(\s*[`'\"]")

_ISSUE = re.compile(r"\(?\b(?:(?:fix|close|resolve)(?:e?s|e?d)?\b:?\s*)?(?:(?<!\w)#|\bgh-)\d+\)?", re.IGNORECASE)
_BARE_ISSUE = re.compile(r"\(?(?:\w+/\w+)?#\d+\)?")
_CLOSING = re.compile(r"\b(?:fixes|closes)\b:?", re.IGNORECASE)
_NO_LESSON = re.compile(r"^\W*(bump|releas|revert|merge|version\b|v?\d+\.\d)|\bbump(s|ed)?\b", re.IGNORECASE)

_COMMIT = b"\x01"
_HUNK = re.compile(rb"^@@ -\d+(?:,(\d{1,18}))? \+\d+(?:,(\d{1,18}))? @@")
_LOG = (
    *("-c", "core.quotePath=false", "-c", "core.bigFileThreshold=1m", "-c", "diff.orderFile=/dev/null"),
    *("log", "--no-merges", "--no-notes", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--patch"),
    *("--unified=0", "--inter-hunk-context=0", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/"),
    *("--encoding=UTF-8", "--format=%x01%H %ct %s"),
)


class Question(NamedTuple):
    """A question whose right answer is known.

    Attributes:
        commit: the full id of the commit.
        time: when it was committed, in seconds since the epoch.
        query: the commit's subject, without issue numbers.
        tests: the right answer: the lines that the commit added to test files, in hunks that hold a test.
        language: that of the tests: ``python``, ``javascript``, ``typescript`` or ``mixed``.
    """

    commit: str
    time: int
    query: str
    tests: str
    language: str


class _Hunk(NamedTuple):
    """Neighbouring lines that a commit added to a test file."""

    language: str
    text: str


def head(repository: str) -> str:
    """The id of the newest commit of the history.

    Raises:
        Unusable: ``call-invalid``: there is no history.
    """
    with _git(repository, "rev-parse", "--verify", "HEAD^{commit}") as process:
        output, errors = process.communicate()
    if process.returncode:
        said = errors.decode("utf-8", "replace").strip().splitlines() or [""]
        raise Unusable(
            "call-invalid", f"repo is {repository!r:.200}; allowed: a local git repository ({said[-1]:.200})"
        )
    return output.decode("ascii", "replace").strip()


def read(repository: str) -> list[Question]:
    """The questions of a repository, newest first, at most :data:`MOST_QUESTIONS`.

    Raises:
        Unusable: ``call-invalid``: there is no history.
    """
    head(repository)
    found: list[Question] = []
    with _git(repository, *_LOG) as process:
        assert process.stdout is not None
        for commit, time, subject, hunks in _commits(process.stdout):
            query = clean(subject)
            telling = [hunk for hunk in hunks if holds_test(hunk.language, hunk.text)][:MOST_HUNKS]
            if query and telling:
                spoken = {hunk.language for hunk in telling}
                tests = _cut("\n".join(hunk.text for hunk in telling))
                found.append(
                    Question(
                        commit,
                        min(max(time, 0), _LATEST),
                        query,
                        tests,
                        spoken.pop() if len(spoken) == 1 else "mixed",
                    )
                )
                if len(found) == MOST_QUESTIONS:
                    process.kill()
                    break
        else:
            if process.wait():
                raise Unusable("call-invalid", f"git cannot read the history of {repository!r:.200}")
    return found


def _cut(tests: str) -> str:
    while canonical.utf16_length(tests) > MOST_CHARACTERS:
        tests = tests[: len(tests) - max(1, (canonical.utf16_length(tests) - MOST_CHARACTERS) // 2)]
    return tests


def clean(subject: str) -> str:
    """A commit's subject as a query; empty for bumps, releases, reverts, merges, and for fewer than three words."""
    if _NO_LESSON.search(subject):
        return ""
    for noise in (_ISSUE, _BARE_ISSUE, _CLOSING):
        subject = noise.sub(" ", subject)
    subject = " ".join(subject.split()).strip(" ,;:-")
    return subject if len(re.findall(r"\w+", subject)) >= _LEAST_WORDS else ""


def test_language(path: str) -> str:
    """The language of a test file; empty when ``path`` is no test file, or its language is unknown."""
    stem, ending = os.path.splitext(os.path.basename(path))
    language = languages.language(path)
    if language == "other" or ending.lower() == ".pyi":  # a stub holds no test
        return ""
    return language if _TEST_FOLDER.search(path) or _TEST_NAME.match(stem) else ""


def holds_test(language: str, text: str) -> bool:
    """Whether a test begins in these lines of code."""
    return bool((_PYTHON_TEST if language == "python" else _JAVASCRIPT_TEST).search(text))


def _git(repository: str, *arguments: str) -> subprocess.Popen[bytes]:
    env = {**git.environment(), "GIT_NO_REPLACE_OBJECTS": "1"}
    try:
        return subprocess.Popen(
            ["git", *git.OPTIONS, *arguments],
            cwd=repository,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if arguments[0] == "rev-parse" else subprocess.DEVNULL,
        )
    except OSError as error:
        why = error.strerror or str(error)
        raise Unusable(
            "call-invalid", f"repo is {repository!r:.200}; allowed: a local git repository ({why})"
        ) from None


def _commits(lines: IO[bytes]) -> Iterator[tuple[str, int, str, list[_Hunk]]]:
    """Each commit of git's log: its id, time and subject, and the hunks that it added to test files."""
    commit: tuple[str, int, str, list[_Hunk]] | None = None
    language = ""
    for line in lines:
        hunk = _HUNK.match(line)
        if line.startswith(_COMMIT):
            if commit is not None:
                yield commit
            commit, language = _begun(line), ""
        elif line.startswith(b"+++ "):
            path = line[4:].rstrip(b"\n\t").decode("utf-8", "replace")
            language = test_language(path[2:]) if path.startswith("b/") else ""
        elif hunk and commit is not None:
            added = _added(lines, int(hunk[1] or 1) + int(hunk[2] or 1))
            if language:
                commit[3].append(_Hunk(language, added))
    if commit is not None:
        yield commit


def _begun(line: bytes) -> tuple[str, int, str, list[_Hunk]]:
    """A commit by its first line, without hunks.

    Raises:
        Unusable: ``call-invalid``: what answers is no git that we know.
    """
    try:
        name, time, subject = line[1:].decode("utf-8", "replace").rstrip("\n").split(" ", 2)
        return name, int(time or 0), subject, []
    except ValueError:
        raise Unusable(
            "call-invalid", f"git's log has the line {line!r:.80}; allowed: a commit's id, time and subject"
        ) from None


def _added(lines: IO[bytes], count: int) -> str:
    """The lines that a hunk adds. We count lines to find its end, since a line of code may look like a header.

    Args:
        count: how many lines the hunk removes and adds.
    """
    added = []
    for line in lines:
        if line.startswith(b"\\"):  # "No newline at end of file" does not count
            continue
        if line.startswith(b"+"):
            added.append(line[1:].decode("utf-8", "replace").rstrip("\r\n"))
        count -= 1
        if not count:
            break
    return "\n".join(added)
