"""Values that stand beside a name like ``password``: in code, in a text inside a literal, in nested JSON, in prose.

A *plain* name ends in a word that means nothing but a secret: ``DB_PASSWORD``, ``clientSecret``, ``api-key``. A *vague*
name may mean something else too: ``token``, ``auth``, ``password_field``.

- A literal given to a plain name is a secret from four characters on. Beside a vague name, in a list, after a comma and
  in a call it must look *made*: letters and digits, letters and signs, or a long run of letters. So
  ``assert token == "identifier"`` and ``["username", "password", "email"]`` stay as they are. Compared with a plain
  name (``assert user.password == "swordfish"``) it is a secret unless it has white space, as error messages have.
- Outside a literal a value must have letters and digits and be no call and no attribute. So ``token = make_token()``
  stays.
- Never a secret: what is empty or shorter than four characters, and what is filled in later (``{password}``, ``%s``,
  ``${DB_PASSWORD}``, ``<password>``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from testlore.evidence.literals import Literal, Literals

_LEAST = 4
_LEAST_MADE = 6
_LEAST_MADE_IN_CODE = 8  # in lists, comparisons and calls, where most values are plain data
_LONG_RUN = 12
_MOST_SIBLINGS = 40
_REACH = 4096  # how far a value may go on where nothing closes it
_SAMPLE = 96  # so much of it says whether it is a secret

_PLAIN = r"passw(?:or)?d|passphrase|pwd|secret(?!ar)|credentials?|api[_-]?key"
_PLAIN_KEYS = (
    r"(?:access|account|auth|client|deploy|encryption|license|master|private|secret|service|shared|signing|storage"
    r"|webhook)[_-]?key"
)
_VAGUE = (
    r"token(?!i[sz])|authorization|session[_-]?id|(?<![a-z])(?:auth|pass|pw)(?![a-z])"
    r"|(?-i:(?<=[a-z])(?:Auth|Pass|Pw)(?![a-z]))"
)
_WORD = re.compile(rf"(?i)(?P<plain>{_PLAIN}|{_PLAIN_KEYS})|{_VAGUE}|(?<=[?&])(?:key|sig|signature)(?==)")
_REST_OF_NAME = re.compile(r"[\w-]{0,60}")
_NAME_BACKWARDS = re.compile(r"[\w.-]{0,60}")
_CLOSERS = r"""(?:\\{0,64}["'`]|\]){0,3}"""  # of the name, if it is quoted or an index
_RELATION = re.compile(
    rf"""(?x) (?P<closers>{_CLOSERS})
    (?: (?P<given> \s{{0,80}} (?: :\s{{0,8}}[A-Za-z_][\w.\[\]|,\ ]{{0,60}}=(?!=) | := | => | [:=](?!=) ) )
      | (?P<compared> \s{{0,80}} [!=]==?)
      | (?P<comma> \s{{0,80}} ,)
      | (?P<call> (?:\)\s{{0,80}}\.\s{{0,8}}\w{{1,40}})? \()
      | (?P<tag> (?<=\w)>)
      | (?P<apart> [ \t]{{1,8}}) )
    (?P<bracket> \s{{0,200}} [\[({{] (?=\s{{0,200}}[rbfutRBFUT]{{0,2}}\\{{0,64}}["'`]) )? \s{{0,200}}"""
)
_QUOTE = re.compile(
    r"""[rbfutRBFUT]{0,2}(?P<escapes>\\{0,64})(?P<quote>["'`])(?:(?P=escapes)(?P=quote)(?P=escapes)(?P=quote))?"""
)
_ANY_QUOTE = re.compile(r"""(?P<escapes>\\{0,64})(?P<quote>["'`])""")
_JOINED = re.compile(r"\s{0,200}(?:[+.\\]\s{0,200})?")  # between two literals that make one text
_MADE_BEHIND = re.compile(r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{4}")  # no code begins so behind a literal
_NEXT = re.compile(r"\s{0,200},\s{0,200}")

# In a text a separator ends a value only if a name or nothing follows, for a password may hold one.
_END = r"(?=\s|[\"'`\\]|[\w.-]{1,40}[=:]|\Z)"
_TEXT_VALUE = re.compile(rf"""(?:[^\s"'`\\;&,<]|[;&,](?!{_END})|<(?!/)|\\(?![nrt"'`\\])(?s:.)|\\\\){{1,{_REACH}}}""")
_CODE_VALUE = re.compile(r"""[^\s"'`,;&()\[\]{}<>|\\]{6,4096}""")
_ENDS = ":.,!?"  # of a word in a sentence
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_FILLED_IN = re.compile(r"\$\{[^{}]*\}|\{\{?[^{}\n]*\}?\}|%\(\w+\)s|%[sdrv]|\A\$[A-Z_]{2,}\Z|<[a-z][a-z _-]*>")
_SCHEME = re.compile(r"(?i)(?:bearer|basic|digest|token) {1,8}(?=\S)")
_CODE = re.compile(  # an attribute, a name made of the same words, a number
    rf"_*[A-Za-z]+\d*(?:[._-]+[A-Za-z]+\d*)+|[A-Za-z_]*(?:{_WORD.pattern.removeprefix('(?i)')})[A-Za-z_]*\d*|0x[0-9a-fA-F]+",
    re.IGNORECASE,
)
_HAS_LETTER = re.compile(r"[^\W\d_]")
_HAS_DIGIT = re.compile(r"\d")
_HAS_OTHER = re.compile(r"[\d!@#$%^*+=~?]")
_PLACE = re.compile(
    r"\w+://.*|(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{1,5}|(?:\.{1,2}|~)?(?:/[\w.-]+)+"
)  # an address, or a path
_CALL = re.compile(r"[A-Za-z_][\w.]*\(")


class _Name(NamedTuple):
    """A name that speaks of a secret, where it ends, and how it is related to what follows.

    ``is_short`` is a vague name that is also a word of code: ``pass``, ``auth``. ``is_listed`` is one that follows
    another, as in ``user, password = …``.
    """

    text: str
    end: int
    plain: bool
    is_short: bool
    is_listed: bool
    relation: re.Match[str]


def find(text: str, literals: Literals) -> Iterator[tuple[int, int]]:
    """The places in a text of the values that belong to names like ``password``."""
    done = 0
    for word in _WORD.finditer(text):
        if word.start() < done:
            continue
        name = _name(text, word)
        for start, end in _values(text, literals, name) if name else ():
            yield start, end
            done = max(done, end)


def _name(text: str, word: re.Match[str]) -> _Name | None:
    rest = _REST_OF_NAME.match(text, word.end())
    end = rest.end() if rest else word.end()
    relation = _RELATION.match(text, end)
    if not relation:
        return None
    before = _NAME_BACKWARDS.match(text[max(0, word.start() - 60) : word.start()][::-1])
    start = word.start() - (before.end() if before else 0)
    plain = bool(word["plain"]) and not text[word.end() : end].strip("_-0123456789")
    is_listed = bool(relation["given"]) and text[max(0, start - 3) : start].rstrip().endswith(",")
    return _Name(text[start:end], end, plain, not plain and len(word[0]) <= len("auth"), is_listed, relation)


def _values(text: str, literals: Literals, name: _Name) -> Iterator[tuple[int, int]]:
    place, own = name.relation.end(), literals.around(name.end)
    literal = literals.opening(place)
    if literal is not None and not name.relation["apart"]:
        yield from _of_literals(text, literals, name, literal)
    elif own and place == own.end and _MADE_BEHIND.match(text, own.closes):
        yield from _of_nested(text, name, None, place)  # the quote rather opens the value, after another odd one
    elif literal is None and _QUOTE.match(text, place) and not (own and place == own.end):
        yield from _of_nested(text, name, own, place)
    elif own and place <= own.end:
        yield from _of_text(text, literals, name, own, place)
    else:
        yield from _of_code(text, name, place)


def _of_literals(text: str, literals: Literals, name: _Name, first: Literal) -> Iterator[tuple[int, int]]:
    """The contents of the literals that are the value, or that stand in the list that is it."""
    one: Literal | None = first
    for _ in range(_MOST_SIBLINGS):
        pieces: list[Literal] = []
        while one is not None:
            pieces.append(one)
            end = one.closes
            joined = _JOINED.match(text, end)
            one = literals.opening(joined.end()) if joined else None
        starts = [_after_scheme(text, piece.start, piece.end) for piece in pieces]
        value = "".join(text[start : piece.end] for start, piece in zip(starts, pieces, strict=True))
        if _is_secret(value, name):
            yield from ((start, piece.end) for start, piece in zip(starts, pieces, strict=True))
        following = _NEXT.match(text, end) if name.relation["bracket"] or name.is_listed else None
        one = literals.opening(following.end()) if following else None
        if one is None:
            return


def _of_nested(text: str, name: _Name, own: Literal | None, place: int) -> Iterator[tuple[int, int]]:
    r"""A quoted value inside a literal, in whatever depth of escapes: ``\"token\": \"…\"``.

    In a depth of ``n`` backslashes a quote closes after ``n`` of them, or after ``n`` more than a multiple of
    ``2 * (n + 1)``. Other quotes belong to the value.
    """
    if name.relation["apart"] and (own is None or not name.plain or name.relation["closers"]):
        return
    line = text.find("\n", place)
    limit = own.end if own else line if line >= 0 else len(text)
    start, end = _quoted(text, place, limit)
    while text[start:end].strip() == "+" and end < limit:  # that was the end of "… password=", and the value follows
        start, end = _quoted(text, end, limit)
    start = _after_scheme(text, start, end)
    if _is_secret(text[start:end], name):
        yield start, end


def _quoted(text: str, place: int, limit: int) -> tuple[int, int]:
    """What the quotes at ``place`` enclose, up to ``limit`` if nothing closes them."""
    opening = _QUOTE.match(text, place)
    assert opening
    depth = len(opening["escapes"])
    end = min(limit, opening.end() + _REACH)
    for quote in _ANY_QUOTE.finditer(text, opening.end(), end):
        if quote["quote"] == opening["quote"] and len(quote["escapes"]) % (2 * (depth + 1)) == depth:
            return opening.end(), quote.end() - 1 - depth
    return opening.end(), max(opening.end(), end)


def _of_text(text: str, literals: Literals, name: _Name, own: Literal, place: int) -> Iterator[tuple[int, int]]:
    """A value without quotes inside a literal: ``host=db password=…``, ``--password …``, ``?api_key=…&``.

    It goes on in the next literal where two are joined: ``"… password=" + "…"``.
    """
    relation = name.relation
    is_option = bool(relation["apart"]) and name.text.startswith("-") and text[place] != "-"
    if not (relation["given"] or relation["tag"] or is_option):
        return
    start = _after_scheme(text, place, own.end)
    sample = _value(text, start, min(own.end, start + _SAMPLE))
    following = None
    if start + len(sample) == own.end:
        joined = _JOINED.match(text, own.closes)
        following = literals.opening(joined.end()) if joined else None
    rest = _value(text, following.start, following.end) if following else ""
    prose = bool(relation["given"]) and relation["given"].strip() != "="
    if _CALL.match(sample) or not _is_secret(_trimmed(sample + rest), name, prose=prose):
        return
    yield start, start + len(_trimmed(_value(text, start, own.end)))
    if following:
        yield following.start, following.start + len(_trimmed(rest))


def _value(text: str, start: int, end: int) -> str:
    found = _TEXT_VALUE.match(text, start, end)
    return found[0] if found else ""


def _trimmed(value: str) -> str:
    """A value without what ends its sentence or its call: points, and brackets that it does not open."""
    while value and (
        value[-1] in ".:,;" or (value[-1] in _BRACKETS and value.count(value[-1]) > value.count(_BRACKETS[value[-1]]))
    ):
        value = value[:-1]
    return value


def _of_code(text: str, name: _Name, place: int) -> Iterator[tuple[int, int]]:
    """A value without quotes outside a literal: of a file of settings, or of a sentence. It may as well be code."""
    is_option = bool(name.relation["apart"]) and name.text.startswith("--")
    sample = _CODE_VALUE.match(text, place, place + _SAMPLE)
    if not sample or not (name.relation["given"] or is_option):
        return
    value = sample[0].rstrip(_ENDS)
    is_code = len(value) < _LEAST_MADE or _CODE.fullmatch(value)
    if is_code or not _HAS_LETTER.search(value) or not _HAS_DIGIT.search(value):
        return
    whole = _CODE_VALUE.match(text, place) or sample
    if not text.startswith(("(", "["), whole.end()):
        yield place, place + len(whole[0].rstrip(_ENDS))


def _after_scheme(text: str, start: int, end: int) -> int:
    """Where the secret of an authorization header begins: after ``Bearer`` and its like."""
    scheme = _SCHEME.match(text, start, end)
    return scheme.end() if scheme else start


def _is_secret(value: str, name: _Name, *, prose: bool = False) -> bool:
    """Whether a value is a secret, by the rules of this module's docstring."""
    rest = _FILLED_IN.sub("", value).strip()
    if len(rest) < _LEAST or not any(map(str.isalnum, rest)):
        return False
    relation = name.relation
    is_mapped = (relation["given"] or "").strip() == ":"  # with messages as values, as in {"password": "is missing"}
    is_given = bool(relation["given"] or relation["tag"] or relation["apart"]) and not relation["bracket"]
    if name.plain and is_given and not prose and not (is_mapped and " " in rest):
        return True
    if re.search(r"\s", rest) or (name.is_short and not relation["given"]):
        return False
    if relation["comma"] and _CODE.fullmatch(rest[:_SAMPLE]):
        return False  # the next name of a list of names
    if is_given:
        return _is_made(rest, _LEAST_MADE)
    if name.plain and not relation["bracket"]:
        # An environment variable, as in setenv("DB_PASSWORD", "…"), or a comparison.
        return bool(relation["compared"]) or name.text.isupper() or _is_made(rest, _LEAST_MADE)
    return _is_made(rest, _LEAST_MADE if name.plain else _LEAST_MADE_IN_CODE)


def _is_made(value: str, least: int) -> bool:
    """Whether a value without white space looks like no word of a language."""
    if len(value) < least or _PLACE.fullmatch(value):
        return False
    return bool(_HAS_LETTER.search(value) and _HAS_OTHER.search(value)) or (len(value) >= _LONG_RUN and value.isalnum())
