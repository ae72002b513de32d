"""Code without its comments, so that one lesson is told from another by what it does, not by what is said about it."""

from __future__ import annotations

import re
from typing import Any

# A comment's mark inside a literal is none. So literals are matched too, and kept.
_LITERALS = r""" "(?:[^"\\\n]|\\(?s:.))*" | '(?:[^'\\\n]|\\(?s:.))*' """
_PYTHON = re.compile(
    rf"""(?mx)
    ^[ \t]*[rRuU]?(?P<doc>\"{{3}}|'{{3}})(?:[^\\]|\\(?s:.))*?(?P=doc)[ \t]*$      # a docstring
    | (?P<kept> (?P<long>\"{{3}}|'{{3}})(?:[^\\]|\\(?s:.))*?(?P=long) | {_LITERALS} )
    | \#[^\n]*"""
)
_JAVASCRIPT = re.compile(
    rf"""(?x) (?P<kept> {_LITERALS} | `(?:[^`\\]|\\(?s:.))*` ) | //[^\n]* | /\*(?s:.)*?(?:\*/|\Z)"""
)


def code_text(record: dict[str, Any]) -> str:
    """An episode's text for comparing words, without the comments in its patterns."""
    marks = " ".join([*record["tags"], *record["warnings"]])
    patterns = record["patterns"]
    return "\n".join([marks, *(without_comments(one["content"], one["language"]) for one in patterns)])


def without_comments(text: str, language: str) -> str:
    """``text`` without comments, and for Python without docstrings.

    Args:
        text: code, which may be cut at its end.
        language: of a pattern, as a record names it.

    Returns:
        The whole text where no code would be left, as at the beginning of a file that says much before it does
        anything.
    """
    rule = _PYTHON if language == "python" else _JAVASCRIPT
    code = rule.sub(lambda match: match["kept"] or " ", text)
    return code if re.search(r"\w", code) else text
