"""The JSON Schemas of the formats that cross the boundary, and validation against them."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from testlore import canonical, forms, libraries

if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE = os.path.dirname(os.path.abspath(__file__))
# In an installed package the schemas are inside it. In a checkout they are in the repository's root.
_FOLDERS = (os.path.join(_HERE, "schemas"), os.path.join(os.path.dirname(os.path.dirname(_HERE)), "schemas"))
_LONGEST_QUOTE = 80
_FORMS = {"config": forms.is_config, "store": forms.is_store}  # compiled from the schemas of these names


class Problem(NamedTuple):
    """How a value breaks a schema.

    Attributes:
        path: the keys and positions that lead to the wrong value.
        text: a sentence that names the key, its value, and what is allowed.
    """

    path: tuple[str | int, ...]
    text: str


def path(name: str) -> str:
    """The path of the schema ``name``, such as ``store``.

    Raises:
        FileNotFoundError: there is no schema of that name.
    """
    for folder in _FOLDERS:
        candidate = os.path.join(folder, f"{name}.schema.json")
        if os.path.isfile(candidate):
            return candidate
    raise FileNotFoundError(f"there is no schema {name!r}")


def load(name: str) -> Any:
    """The schema ``name``, parsed."""
    with open(path(name), "rb") as file:
        return canonical.loads(file.read())


@cache
def digest(name: str) -> str:
    """The digest of the schema ``name``, which this process reads once for it."""
    with open(path(name), "rb") as file:
        return canonical.digest(file.read())


def has_form(name: str, value: Any) -> bool:
    """Whether ``value`` surely fits the schema ``name``, ``store`` or ``config``, by what was compiled from it.

    It takes a hundredth of the time of :func:`problems`, which decides when this is false: the schema may be another
    one than was compiled.
    """
    return digest(name) == forms.COMPILED_FROM[name] and _FORMS[name](value)


def problems(name: str, value: Any, definition: str = "", at: tuple[str | int, ...] = ()) -> Iterator[Problem]:
    """How ``value`` breaks the schema ``name`` (JSON Schema 2020-12), in jsonschema's order.

    Args:
        definition: the name in the schema's ``$defs`` that describes the value; empty for the whole schema.
        at: the value's place in a document, with which the problems' paths begin.
    """
    return _problems(_validator(name, definition), value, at)


def problems_under(schema: Any, value: Any) -> Iterator[Problem]:
    """How ``value`` breaks a schema."""
    with libraries.installed():
        from jsonschema import Draft202012Validator

    return _problems(Draft202012Validator(schema), value, ())


def _problems(validator: Any, value: Any, at: tuple[str | int, ...]) -> Iterator[Problem]:
    try:
        for error in validator.iter_errors(value):
            where = (*at, *error.absolute_path)
            yield Problem(where, _sentence(error, where))
    except RecursionError:
        yield Problem(at, "the document is nested too deeply")


@cache
def _validator(name: str, definition: str) -> Any:
    with libraries.installed():
        from jsonschema import Draft202012Validator

    schema = load(name)
    return Draft202012Validator({**schema["$defs"][definition], "$defs": schema["$defs"]} if definition else schema)


def first_problem(name: str, value: Any, definition: str = "", at: tuple[str | int, ...] = ()) -> Problem | None:
    """The first of :func:`problems`, or ``None`` when ``value`` is valid."""
    return next(problems(name, value, definition, at), None)


def _sentence(error: Any, path: tuple[str | int, ...]) -> str:
    where = dotted(path) or "the document"
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = ", ".join(repr(key) for key in error.instance if key not in known)
        return f"{where} has the unknown key {unknown}; allowed: {', '.join(known)}"
    if error.validator == "required":
        missing = ", ".join(repr(key) for key in error.validator_value if key not in error.instance)
        return f"{where} lacks the key {missing}"
    allowed = error.schema.get("description") or f"{error.validator} {error.validator_value!r}"
    return f"{where} is {quote(error.instance)}; allowed: {allowed}"


def dotted(parts: Any) -> str:
    """``("a", 0, "b")`` as people write it: ``a[0].b``."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def quote(value: Any) -> str:
    """``value`` as short JSON for a message."""
    try:
        text = canonical.dumps(value)
    except TypeError:
        text = repr(value)
    except ValueError:
        return "nested too deeply"
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"
