"""Canonical JSON: the one place that turns values into bytes, digests and seals.

The compact form is the one that ECMAScript's ``JSON.stringify`` writes (ECMA-262, *SerializeJSONProperty*
and *Number::toString*), so a digest made here equals one that a JavaScript tool makes of the same value.

A seal detects accidents: a torn write, a stray edit. It has no key, so it is no signature.
"""

from __future__ import annotations

import hashlib
import json
import re
from json.encoder import encode_basestring
from typing import Any

_MAX_SAFE_INTEGER = 2**53
_MAX_ARRAY_INDEX = 2**32 - 2
_LONE_SURROGATE = "[\ud800-\udfff]"  # re compiles it when it is first needed


def loads(data: bytes | str) -> Any:
    """Parse strict JSON: UTF-8 without a byte order mark, no NaN and no Infinity.

    Raises:
        ValueError: the data is not strict JSON, or is nested too deeply.
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def dumps(value: Any) -> str:
    """The compact JSON of what :func:`loads` returns, as ECMAScript writes it.

    Raises:
        ValueError: the value is nested too deeply. The limit is lower than that of :func:`loads`.
    """
    parts: list[str] = []
    try:
        _write(value, parts.append)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    text = "".join(parts)
    if text.isascii():
        return text
    return re.sub(_LONE_SURROGATE, lambda match: f"\\u{ord(match[0]):04x}", text)


def pretty(value: Any) -> str:
    """The JSON of ``value`` with an indentation of two spaces, as ECMAScript's ``JSON.stringify(value, null, 2)``.

    Raises:
        ValueError: as in :func:`dumps`.
    """
    parts: list[str] = []
    try:
        _write_indented(value, "\n", parts.append)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return "".join(parts)


def _write_indented(value: Any, newline: str, put: Any) -> None:
    if not isinstance(value, (dict, list, tuple)) or not value:
        put(dumps(value))
        return
    inner = newline + "  "
    before = "{" if isinstance(value, dict) else "["
    for item in _ordered(value) if isinstance(value, dict) else value:
        put(before + inner)
        if isinstance(value, dict):
            put(dumps(item) + ": ")
        _write_indented(value[item] if isinstance(value, dict) else item, inner, put)
        before = ","
    put(newline + ("}" if isinstance(value, dict) else "]"))


def _write(value: Any, put: Any) -> None:
    if isinstance(value, str):
        put(encode_basestring(value))
    elif value is None:
        put("null")
    elif value is True:
        put("true")
    elif value is False:
        put("false")
    elif isinstance(value, (int, float)):
        put(_number(value))
    elif isinstance(value, dict):
        before = "{"
        for key in _ordered(value):
            put(before + encode_basestring(key) + ":")
            _write(value[key], put)
            before = ","
        put("{}" if before == "{" else "}")
    elif isinstance(value, (list, tuple)):
        before = "["
        for item in value:
            put(before)
            _write(item, put)
            before = ","
        put("[]" if before == "[" else "]")
    else:
        raise TypeError(f"{type(value).__name__} has no JSON form")


def _ordered(value: dict[str, Any]) -> list[str]:
    """The keys in the order of a JavaScript object: array indices first, ascending; then the others as they are."""
    indices = [key for key in value if key[:1].isdigit() and _is_array_index(key)]
    if not indices:
        return list(value)
    indices.sort(key=int)
    rest = set(indices)
    return indices + [key for key in value if key not in rest]


def _is_array_index(key: str) -> bool:
    return (
        key.isascii()
        and key.isdigit()
        and len(key) <= 10
        and (key == "0" or key[0] != "0")
        and int(key) <= _MAX_ARRAY_INDEX
    )


def _number(value: int | float) -> str:
    """ECMA-262 *Number::toString*. It needs the shortest digits, which Python's ``repr`` gives."""
    if isinstance(value, int) and abs(value) <= _MAX_SAFE_INTEGER:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if number != number or number in (float("inf"), float("-inf")):
        return "null"
    if number == 0:
        return "0"
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction.rstrip("0")
    point = len(whole) + int(exponent or 0)  # the value is 0.digits × 10^point
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    sign = "-" if number < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def digest(value: Any) -> str:
    """The SHA-256 of text or bytes, or of any other value's compact JSON, in lower-case hexadecimal digits.

    A lone surrogate in text has no UTF-8. It counts as U+FFFD, as in JavaScript's encoders.
    """
    if not isinstance(value, (str, bytes)):
        value = dumps(value)
    if isinstance(value, str):
        value = to_bytes(value)
    return hashlib.sha256(value).hexdigest()


def to_bytes(text: str) -> bytes:
    """A text in UTF-8, with U+FFFD for each lone surrogate."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return re.sub(_LONE_SURROGATE, "\ufffd", text).encode("utf-8")


def seal(value: dict[str, Any]) -> dict[str, Any]:
    """``value`` with a last key ``integrity``, the digest of all its other keys."""
    body = {key: item for key, item in value.items() if key != "integrity"}
    return {**body, "integrity": digest(body)}


def is_sealed(value: Any) -> bool:
    """Whether ``value`` is an object whose ``integrity`` fits the rest of it."""
    if not isinstance(value, dict) or not isinstance(value.get("integrity"), str):
        return False
    try:
        return bool(seal(value)["integrity"] == value["integrity"])
    except ValueError:  # nested too deeply, so it was never sealed
        return False


def utf16_length(text: str) -> int:
    """The length of ``text`` in UTF-16 code units. Every limit in *characters* is meant so."""
    return len(text) + sum(char > "\uffff" for char in text) if not text.isascii() else len(text)
