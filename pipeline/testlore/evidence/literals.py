"""String literals in code of any language, found without a parser.

It is meant for texts that no parser takes: a part of a test, JavaScript, prose. What it takes for a literal may be
none, as where a comment holds an odd quote. Who uses it must be right in either case.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

# A quote opens a literal where no letter and no backslash stands before it, so that "don't" opens none.
_TOKEN = re.compile(
    r"""(?x)
    (?P<comment> (?<!\S) (?: \#(?!\{) | //[ \t] ) [^\n]* )
    | (?<![\w\\]) (?P<prefix>[rbfutRBFUT]{0,2})
      (?: (?P<long>\"{3}|'{3}) (?:[^\\]|\\(?s:.))*? (?P=long)
        | " (?:[^"\\\n]|\\(?s:.))* "  |  ' (?:[^'\\\n]|\\(?s:.))* ' )
    | (?<!\\) ` (?:[^`\\]|\\(?s:.))* `
    """
)
_BRACE = re.compile(r"(?<!\$)\{\{|\}\}(?!\})|[{}]")


class Literal(NamedTuple):
    """A literal's place in a text.

    Attributes:
        opens: where its prefix or its first quote stands.
        start, end: its content, without the quotes.
        closes: behind its last quote.
        holes: whether it may hold expressions, as an f-string or a template does.
    """

    opens: int
    start: int
    end: int
    closes: int
    holes: bool


class Literals:
    """The literals of a text, in order.

    Args:
        text: any text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Literal] = []
        for token in _TOKEN.finditer(text):
            if token["comment"] is None:
                prefix, quotes = token["prefix"] or "", len(token["long"] or '"')
                start = token.start() + len(prefix) + quotes
                holes = token[0][0] == "`" or not {*"fFtT"}.isdisjoint(prefix)
                self.found.append(Literal(token.start(), start, token.end() - quotes, token.end(), holes))
        self._opens = [one.opens for one in self.found]
        self._numbers = {one.opens: number for number, one in enumerate(self.found)}
        self._holes: dict[int, list[tuple[int, int]]] = {}

    def around(self, place: int) -> Literal | None:
        """The literal whose content holds this place, or ends at it; ``None`` if there is none."""
        number = bisect_right(self._opens, place) - 1
        if number >= 0 and self.found[number].start <= place <= self.found[number].end:
            return self.found[number]
        return None

    def opening(self, place: int) -> Literal | None:
        """The literal whose prefix or first quote stands at this place."""
        number = self._numbers.get(place)
        return None if number is None else self.found[number]

    def within(self, start: int, end: int) -> list[Literal]:
        """The literals whose contents share a character with ``text[start:end]``."""
        found = []
        for number in range(max(0, bisect_right(self._opens, start) - 1), len(self.found)):
            one = self.found[number]
            if one.start >= end:
                break
            if one.end > start:
                found.append(one)
        return found

    def widened(self, literal: Literal, start: int, end: int) -> tuple[int, int]:
        """``start`` and ``end`` moved outwards, so that no expression inside the literal is cut."""
        for first, last in self._holes_of(literal):
            if first < end and last > start:
                start, end = min(start, first), max(end, last)
        return start, end

    def _holes_of(self, literal: Literal) -> list[tuple[int, int]]:
        """Where the expressions of an f-string or a template stand, braces included."""
        if not literal.holes:
            return []
        if literal.opens not in self._holes:
            found, depth, first = [], 0, literal.start
            for brace in _BRACE.finditer(self.text, literal.start, literal.end):
                if brace[0] == "{":
                    is_dollar = self.text[literal.start - 1] == "`" and self.text[brace.start() - 1] == "$"
                    first = first if depth else brace.start() - is_dollar
                    depth += 1
                elif brace[0] == "}" and depth:
                    depth -= 1
                    if depth == 0:
                        found.append((first, brace.end()))
            self._holes[literal.opens] = found
        return self._holes[literal.opens]
