"""Documents with one place damaged, as whoever writes a project's files may damage them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from testlore import canonical

#: Any JSON value: of another type, of the same value in another type, and at the edges of what is allowed.
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 10_000_001)
    | st.floats(allow_nan=False)
    | st.sampled_from(
        [1.0, 0.0, 127.5, 1e300, 10**400, "", "accepted", "boundary", "python", "command", "a" * 64, "0" * 64, "\n"]
    )
    | st.sampled_from(["..", "/", "a/b", "\0", "\ud800", "a\udfff/b", "calc.py", "x" * 300, "\u202e", "é", "tests"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


def nested(opened: str, depth: int, closed: str) -> str:
    """A text that is nested so deep, as lists or objects."""
    return opened * depth + "1" + closed * depth


#: What can only be written: numbers that Python does not read or cannot hold, NaN, nesting beyond what can be followed.
_ODD = (
    st.sampled_from(
        [
            *("NaN", "-Infinity", "1e400", "-1e400", "1e-400", "-0", "9" * 4_300, "9" * 5_000, "01", "", "undefined"),
            *(nested("[", depth, "]") for depth in (90, 450, 900, 100_000)),
            *('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\x01"', '"\\x"', '{"a": 1, "a": []}', '{"__proto__": 1}'),
        ]
    )
    | st.builds(nested, st.just("["), st.integers(300, 1_000), st.just("]"))
    | st.builds(nested, st.just('{"a":'), st.integers(300, 1_000), st.just("}"))
)
_HERE = "\uf8ff"


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to everything inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, item in inner for place in places(item, (*way, key)))]


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """A valid value with a few changes anywhere in it: another value, one key or item more or less."""
    found = copy.deepcopy(value)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.sampled_from(places(found)))
        if not place:
            continue
        at = found
        for key in place[:-1]:
            at = at[key]
        change = draw(st.sampled_from(["replace", "remove", "add", "repeat"]))
        if change == "replace":
            at[place[-1]] = draw(JSON)
        elif change == "remove":
            del at[place[-1]]
        elif isinstance(at, list):
            at.append(copy.deepcopy(at[place[-1]]) if change == "repeat" else draw(JSON))
        else:
            at[draw(st.text(max_size=8))] = draw(JSON)
    return found


@st.composite
def replaced(draw: st.DrawFn, value: Any) -> str:
    """The text of a valid document with one place replaced by any JSON value, or by what only looks like one.

    Of an object's key, the valid value may come first: most readers take the last of two.
    """
    place = draw(st.sampled_from(places(value)))
    text = draw(_ODD | JSON.map(json.dumps))
    if not place:
        return text
    found = copy.deepcopy(value)
    at = found
    for key in place[:-1]:
        at = at[key]
    if isinstance(at, dict) and draw(st.integers(0, 9)) == 0:
        text = f"{json.dumps(at[place[-1]])}, {json.dumps(place[-1])}: {text}"
    at[place[-1]] = _HERE
    return json.dumps(found).replace(json.dumps(_HERE), text)


@st.composite
def spoiled(draw: st.DrawFn, value: Any) -> bytes:
    """The bytes of a valid document that are no UTF-8, no JSON, cut short, in another encoding, or something else."""
    data = json.dumps(value).encode()
    at = draw(st.integers(0, len(data)))
    return draw(
        st.sampled_from(
            [b"", b"\xef\xbb\xbf" + data, data.decode().encode("utf-16"), data[:at], data + data, b"\0" + data]
        )
        | st.binary(max_size=20).map(lambda more: data[:at] + more + data[at:])
        | st.binary(max_size=40)
    )


def documents(value: Any) -> st.SearchStrategy[bytes]:
    """A valid document with one place replaced, or spoiled as a file."""
    return st.one_of(*[replaced(value).map(lambda text: text.encode("utf-8", "surrogatepass"))] * 3, spoiled(value))


def resealed(data: bytes, seal: Callable[[Any], Any] = canonical.seal) -> bytes:
    """A document with the seal that fits it, as a forger would write it; what cannot be sealed stays as it is."""
    try:
        value = canonical.loads(data)
        return canonical.to_bytes(canonical.pretty(seal(value)))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return data
