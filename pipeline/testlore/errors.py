"""What can go wrong, in stable words, and what a person can do about it."""

from __future__ import annotations

from collections.abc import Mapping


class Fallback(Exception):
    """The native path cannot deliver; recall answers lexically and says why.

    Args:
        word: one of the keys of :data:`HELP`.
        hint: a text for people that follows the word in the warning.
        advice: what to do about it, where that is known better than from the word alone.
    """

    def __init__(self, word: str, hint: str = "", advice: str = "") -> None:
        super().__init__(word, hint)
        self.word = word
        self.hint = hint
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.word}: {self.hint}" if self.hint else self.word


#: Exit status of each reason for which nothing at all is recalled.
EXIT_STATUS = {
    "learning-disabled": 0,
    "no-memory": 0,
    "store-corrupt": 1,
    "store-unsafe": 1,
    "configuration-invalid": 2,
    "call-invalid": 2,
}


class _Ended(Exception):
    """A call that ends without what was asked for: a reason in a stable word, and a text for people.

    Args:
        reason: one of the keys of the class's ``_STATUS``.
        detail: a text for people.
    """

    _STATUS: Mapping[str, int]

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    @property
    def exit_status(self) -> int:
        """The exit status of a command that ends so."""
        return self._STATUS[self.reason]

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


class Unusable(_Ended):
    """Nothing can be recalled at all: a reason of :data:`EXIT_STATUS`.

    Exit status 0: there is nothing to recall; 1: the memory is unusable; 2: the call or the configuration is wrong.
    """

    _STATUS = EXIT_STATUS


#: Exit status of each reason for which evidence is not taken in, or the memory not changed.
REFUSALS = {
    "patch-invalid": 2,
    "path-refused": 2,
    "path-protected": 2,
    "runner-missing": 2,
    "candidate-unknown": 2,
    "call-invalid": 2,
    "agent-missing": 2,
    "requirements-missing": 2,
    "context-missing": 2,
    "worker-failed": 1,
    "worker-answer-invalid": 1,
    "generation-unsafe": 1,
    "generation-unwritable": 1,
    "root-replaced": 1,
    "provenance-changed": 1,
    "candidate-changed": 1,
    "candidate-unsafe": 1,
    "candidate-unwritable": 1,
    "validation-missing": 1,
    "validation-tampered": 1,
    "validation-stale": 1,
    "memory-busy": 1,
    "memory-unwritable": 1,
}


class Refusal(_Ended):
    """Evidence is not taken in, or the memory is not changed, and nothing was written: a reason of :data:`REFUSALS`.

    Exit status 1: the candidate, its validation or the memory is not as it must be; 2: the call is wrong.
    """

    _STATUS = REFUSALS


class UnsafePath(OSError):
    """A path leads out of the project, through a symbolic link, or to something that is not a file."""


#: Every fallback word, and what a person can do about it. What depends on the engine, the engine's own HELP says.
HELP = {
    "ruvector-disabled": 'Set "plugins": {"ruvector": {"enabled": true}} in tddswarm.config.json for native recall.',
    "ruvector-invalid-settings": "Correct the named key under plugins.ruvector in tddswarm.config.json.",
    "ruvector-sdk-missing": "Install the native engine of plugins.ruvector.runtime.",
    "ruvector-sdk-invalid": "Reinstall the native engine of plugins.ruvector.runtime.",
    "ruvector-native-load-failed": "The engine does not load on this machine; reinstall it.",
    "ruvector-sdk-api-mismatch": "The installed engine is another version; install the one that this package names.",
    "ruvector-worker-timeout": "Raise plugins.ruvector.timeoutMs, or look for what keeps the machine busy.",
    "ruvector-worker-failed": "The engine's process ended early; run it again, and reinstall the engine if it stays.",
    "ruvector-invalid-worker-output": "The engine answered what cannot be true; its answer was not used. Reinstall it.",
    "ruvector-request-too-large": "Lower plugins.ruvector.dimensions: one request may hold 4 MiB.",
    "ruvector-cache-corrupt": "Look at .tddswarm/learning/ruvector if you like, then run `doit clean` to rebuild.",
    "ruvector-cache-scope-mismatch": "The cached index names other episodes than its key; run `doit clean`.",
    "ruvector-cache-busy": "Another process is building the index; ask again in a moment.",
    "ruvector-cache-unwritable": "Make .tddswarm/learning/ruvector writable and free some disk space.",
    "ruvector-cache-unsafe": "Replace the link, or what is not a folder, at .tddswarm/learning/ruvector.",
    "ruvector-embedding-command-failed": "Run plugins.ruvector.embedding.argv by hand and mend what it reports.",
    "ruvector-invalid-embedding-output": "The embedding command must print one JSON object with one vector a text.",
    "ruvector-empty-scope-or-query": "Nothing to compare: the query is empty, or no episode is of this framework.",
    "ruvector-empty-feature-query": "Every word of the query is a stop word; use words that tell tests apart.",
    "ruvector-no-valid-hits": "The engine found nothing that may be used.",
    "ruvector-no-applicable-hits": "No episode that the engine found shares a word with the query.",
}
