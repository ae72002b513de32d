"""What can go wrong, in stable words, and what a person can do about it.

Every word has its help in a table. A word without an entry cannot be raised, so a misspelt one fails at once. Words
that only a native engine can raise stand in that engine's module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple


class Meaning(NamedTuple):
    """What a word means for a person.

    Attributes:
        exit_status: the exit status of a command that ends with it.
        help: what to do.
    """

    exit_status: int
    help: str


#: Why recall fell back, for every engine, and what to do.
FALLBACKS = {
    "ruvector-disabled": 'Set "plugins": {"ruvector": {"enabled": true}} in tddswarm.config.json for native recall.',
    "ruvector-invalid-settings": "Correct the named key under plugins.ruvector in tddswarm.config.json.",
    "ruvector-worker-timeout": "Raise plugins.ruvector.timeoutMs, or find out what keeps the machine busy.",
    "ruvector-worker-failed": "The engine's process ended early. Ask again; reinstall the engine if it happens again.",
    "ruvector-invalid-worker-output": "The engine gave an impossible answer, which was not used. Reinstall the engine.",
    "ruvector-request-too-large": "Lower plugins.ruvector.dimensions: one request may hold 4 MiB.",
    "ruvector-cache-corrupt": "Run `testlore clean`: the next recall builds a new index.",
    "ruvector-cache-scope-mismatch": "The cached index holds other episodes than its key says. Run `testlore clean`.",
    "ruvector-cache-busy": "Another process is building the index. Ask again in a moment.",
    "ruvector-cache-unwritable": "Make .tddswarm/learning/ruvector writable, and free some disk space.",
    "ruvector-cache-unsafe": "Replace the link or file at .tddswarm/learning/ruvector by a real folder.",
    "ruvector-untrusted-command": "Run `testlore trust`, if the named program may be started on this machine.",
    "ruvector-embedding-command-failed": "Run plugins.ruvector.embedding.argv by hand, and fix what it reports.",
    "ruvector-invalid-embedding-output": "The embedding command must print a JSON object with one vector per text.",
    "ruvector-empty-scope-or-query": "Ask for something. If you did: no episode is of this project's test framework.",
    "ruvector-empty-feature-query": "Every word of the query is a stop word. Use words that tell tests apart.",
    "ruvector-no-valid-hits": "The engine returned no row. Run `testlore doctor`.",
    "ruvector-no-applicable-hits": "No episode that the engine found shares a word with the query. Try other words.",
}

#: Why nothing can be recalled at all.
UNUSABLE = {
    "learning-disabled": Meaning(0, "Set learning.enabled to true in tddswarm.config.json."),
    "no-memory": Meaning(0, "Memory begins with the first test candidate that is staged and validated."),
    "store-corrupt": Meaning(1, "Restore .tddswarm/learning/index.json from git; nothing changes or repairs it."),
    "store-conflicted": Meaning(1, "Run `testlore resolve`: it joins both sides of git's merge."),
    "store-unsafe": Meaning(1, "Replace a link on the way to the store, and make the store a readable file."),
    "configuration-invalid": Meaning(2, "Correct the named key in tddswarm.config.json."),
    "call-invalid": Meaning(2, "Correct the named argument."),
}

#: Why evidence is refused, or the memory is not changed.
REFUSALS = {
    "patch-invalid": Meaning(2, "Correct the named key of the patch."),
    "path-refused": Meaning(2, "Name a plain path below the project's root, in a folder that holds sources."),
    "path-protected": Meaning(2, "Name the file in allowProtectedPaths if the patch must change it."),
    "runner-missing": Meaning(2, "Set runner in tddswarm.config.json to the command that runs your tests."),
    "program-untrusted": Meaning(2, "Run `testlore trust`, if the named program may be started on this machine."),
    "state-unwritable": Meaning(1, "Make the named folder writable for you alone, and free some disk space."),
    "sources-unknown": Meaning(2, "Run `git status` in the project's folder, and mend what it says."),
    "oracle-missing": Meaning(2, "Say in review.oracle where the expectations come from, if not from the code."),
    "no-changed-test": Meaning(2, "Propose a test file: new, or with changed tests."),
    "original-incomplete": Meaning(2, "Make the project's own suite run to its end; standard error has its output."),
    "original-failed": Meaning(2, "Mend the named cases, or change or delete them in the candidate."),
    "candidate-rejected": Meaning(1, "Only what was accepted is applied. Propose another one."),
    "files-unwritable": Meaning(1, "Make the named file and its folder writable, and apply the candidate again."),
    "candidate-unknown": Meaning(2, "See `testlore candidates` for the ids of what is staged."),
    "call-invalid": Meaning(2, "Correct the named argument."),
    "agent-missing": Meaning(2, "Set agent in tddswarm.config.json to the command of your worker."),
    "requirements-missing": Meaning(2, "Write what is expected, independently of the code, into the named file."),
    "context-missing": Meaning(
        2, "Add a file of code to what git tracks. A file whose name speaks of secrets is not shown."
    ),
    "worker-failed": Meaning(1, "Run the agent's command by hand, and fix what it reports."),
    "worker-answer-invalid": Meaning(1, "Make the agent answer as its role's schema says; the message names the rule."),
    "generation-unsafe": Meaning(1, "Replace the link on the way to .tddswarm/generation by a real folder."),
    "generation-unwritable": Meaning(1, "Make .tddswarm/generation writable, and free some disk space."),
    "root-replaced": Meaning(1, "Start the server again."),
    "provenance-changed": Meaning(2, "Stage the candidate again, on the project as it is now."),
    "candidate-changed": Meaning(1, "Stage the candidate again."),
    "candidate-unsafe": Meaning(1, "Replace the link on the way to .tddswarm/candidates by a real folder."),
    "candidate-unwritable": Meaning(1, "Make .tddswarm/candidates writable, and free some disk space."),
    "no-room": Meaning(1, "Free disk space in the named folder, or set TMPDIR to a folder with more room for copies."),
    "copy-unwritable": Meaning(1, "Make the named folder writable, or set TMPDIR to another folder for copies."),
    "validation-missing": Meaning(1, "Run `testlore validate` on the candidate."),
    "validation-tampered": Meaning(1, "Run `testlore validate` again."),
    "validation-stale": Meaning(1, "Run `testlore validate` again."),
    "memory-busy": Meaning(1, "Wait until that process has ended, and try again."),
    "memory-unwritable": Meaning(1, "Make .tddswarm/learning writable, and free some disk space."),
}

#: Why a candidate is rejected, and what to do. Answers list the words in this order.
REJECTIONS = {
    "review-rejected": "Answer the reviewer's findings, and propose the tests anew.",
    "candidate-incomplete": "Make the suite run to its end with the candidate; standard error has its output.",
    "candidate-failed": "Mend the named cases, or the code that they are right about.",
    "changed-test-not-run": "Let a case of the named file run: all are skipped, or the runner does not find them.",
    "case-loss": "Put the named cases back. What only moves keeps its name or its body.",
    "flaky": "Make the named cases pass each time: without chance, clocks, networks and other cases' leavings.",
    "held-out-miss": "Put back what saw the named defect.",
    "undemonstrated-defect": "Make sure that the named defect is one, and write the case that sees it.",
    "adds-nothing": "Write a case that fails with one of the faults. What the old suite sees does not count.",
}


class Fallback(Exception):
    """Native recall failed; recall answers lexically and says why.

    An engine raises a subclass. Its ``HELP`` has the words that only engines use, with that engine's help.

    Args:
        word: a key of ``HELP``.
        hint: a text for people that follows the word in the warning.
        advice: what to do, if more is known than the word's help says.

    Raises:
        ValueError: ``HELP`` has no such word.
    """

    HELP: ClassVar[Mapping[str, str]] = FALLBACKS

    def __init__(self, word: str, hint: str = "", advice: str = "") -> None:
        super().__init__(word, hint)
        if word not in self.HELP:
            raise ValueError(f"{word!r} is no fallback word")
        self.word = word
        self.hint = hint
        self.advice = advice or self.HELP[word]

    def __str__(self) -> str:
        return f"{self.word}: {self.hint}" if self.hint else self.word


class _Ending(Exception):
    """A call that ends without a result.

    Args:
        reason: a key of ``MEANINGS``.
        detail: a text for people.

    Raises:
        ValueError: ``MEANINGS`` has no such reason.
    """

    MEANINGS: ClassVar[Mapping[str, Meaning]]

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        if reason not in self.MEANINGS:
            raise ValueError(f"{reason!r} is no reason of {type(self).__name__}")
        self.reason = reason
        self.detail = detail

    @property
    def exit_status(self) -> int:
        """The exit status of a command that ends with this reason."""
        return self.MEANINGS[self.reason].exit_status

    @property
    def advice(self) -> str:
        """What a person can do."""
        return self.MEANINGS[self.reason].help

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


class Unusable(_Ending):
    """Nothing can be recalled at all.

    The exit status is 0 when there is nothing to recall, 1 when the memory is unusable, and 2 when the call or the
    configuration is wrong.
    """

    MEANINGS = UNUSABLE


class Refusal(_Ending):
    """Evidence is refused, or the memory is not changed.

    The exit status is 1 when the candidate, its validation or the memory is not as it must be, and 2 when the call is
    wrong or nothing could be judged.

    Args:
        reason, detail: as for every ending.
        output: the end of what a suite printed, for people. It is never stored.
    """

    MEANINGS = REFUSALS

    def __init__(self, reason: str, detail: str = "", output: str = "") -> None:
        super().__init__(reason, detail)
        self.output = output


class UnsafePath(OSError):
    """A path leads out of the project, through a symbolic link, or to something that is not a file."""
