"""The language of a file, by its ending."""

from __future__ import annotations

import os
from collections.abc import Sequence

_ENDINGS = {
    "python": (".py", ".pyi"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".mts", ".cts", ".tsx"),
}
_OTHER_CODE = frozenset(
    ".vue .svelte .go .rs .rb .php .java .kt .kts .scala .groovy .clj .cs .fs .vb .swift .m .mm .c .h .cc .cpp .cxx "
    ".hpp .hh .lua .pl .pm .ex .exs .erl .hs .ml .dart .jl .r .sh .bash .sql".split()
)


def language(path: str) -> str:
    """The language of a file, as an episode names it; ``other`` for languages that we do not tell apart."""
    ending = _ending(path)
    return next((name for name, endings in _ENDINGS.items() if ending in endings), "other")


def common_language(paths: Sequence[str]) -> str:
    """The common language of several files; ``mixed`` for several languages. Files that are no code do not count."""
    found = {language(path) for path in paths}
    found = found - {"other"} or found
    return found.pop() if len(found) == 1 else "mixed" if found else "other"


def is_code(path: str) -> bool:
    """Whether a file is source code in some language."""
    return language(path) != "other" or _ending(path) in _OTHER_CODE


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()
