"""Compile two schemas, the store's and the configuration's, to plain Python: ``python -m proof.compile_forms``.

jsonschema stays the judge, and the source of messages. What it would only say yes to, the compiled forms say yes to a
hundred times faster, and without an import that costs more than a whole recall. A test holds ``forms.py`` to the
schemas, and both to the same verdicts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from testlore import schemas

TARGET = Path(__file__).resolve().parent.parent / "pipeline/testlore/forms.py"

_HEAD = '''"""Whether values have the forms of ``schemas/``, compiled to plain Python by ``proof/compile_forms.py``."""

from __future__ import annotations

import re
from typing import Any

#: The digests of the schemas that this was compiled from.
COMPILED_FROM = {
'''
_HEX = "^[0-9a-f]{64}$(?!\n)"
_TYPES = {
    "object": "isinstance({0}, dict)",
    "array": "isinstance({0}, list)",
    "string": "isinstance({0}, str)",
    "boolean": "isinstance({0}, bool)",
    "integer": "(type({0}) is int or (type({0}) is float and {0}.is_integer()))",
}
_BOUNDS = {
    "minimum": "{0} >= {1}",
    "maximum": "{0} <= {1}",
    "minLength": "len({0}) >= {1}",
    "maxLength": "len({0}) <= {1}",
    "minItems": "len({0}) >= {1}",
    "maxItems": "len({0}) <= {1}",
}
_COMPILED = {
    *("type", "const", "enum", "pattern", "items", "uniqueItems", "required", "properties", "additionalProperties"),
    *("if", "then", "else", "$ref", "contains", "minContains", "maxContains", *_BOUNDS),
}
_TELLING = {"$schema", "$defs", "title", "description"}


def compiled() -> str:
    """The source of the module."""
    store, config = schemas.load("store"), schemas.load("config")
    forms = {**store["$defs"], "store": store, "config": config}
    digests = "".join(f'    "{name}": "{schemas.digest(name)}",\n' for name in ("store", "config"))
    functions = "".join(f"\n\n{_function(name, schema)}\n" for name, schema in forms.items())
    return f"{_HEAD}{digests}}}\n{functions}"


def _function(name: str, schema: dict[str, Any]) -> str:
    lines = [f"def is_{name}(value: Any) -> bool:", f'    """Whether a value has the form of a {name}."""']
    lines += _indented(_statements(schema, "value"))
    return "\n".join([*lines, "    return True"])


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _statements(schema: dict[str, Any], name: str) -> Iterator[str]:
    """Statements that return false unless the variable ``name`` fits the schema."""
    unknown = schema.keys() - _COMPILED - _TELLING
    if unknown:
        raise ValueError(f"the keywords {sorted(unknown)} are not compiled yet")
    for condition in _conditions(schema, name):
        yield f"if not {condition}:"
        yield "    return False"
    for key, inner in schema.get("properties", {}).items():
        variable = _variable(key)
        body = [f"{variable} = {name}[{json.dumps(key)}]", *_statements(inner, variable)]
        if key in schema.get("required", ()):
            yield from body
        else:
            yield f"if {json.dumps(key)} in {name}:"
            yield from _indented(body)
    for of, inner in ((name, schema.get("items")), (f"{name}.values()", schema.get("additionalProperties"))):
        if inner:
            yield f"for {name}_item in {of}:"
            yield from _indented(_statements(inner, f"{name}_item"))
    if schema.get("uniqueItems"):
        yield f"if len(set({name})) != len({name}):"
        yield "    return False"
    if "if" in schema:
        yield f"if {_condition_of(schema['if'], name)}:"
        yield from _indented(_statements(schema["then"], name))
        if "else" in schema:
            yield "else:"
            yield from _indented(_statements(schema["else"], name))


def _conditions(schema: dict[str, Any], name: str) -> Iterator[str]:
    """Expressions that must all hold, the type first."""
    if "$ref" in schema:
        yield f"is_{schema['$ref'].rpartition('/')[2]}({name})"
    if "type" in schema:
        yield _TYPES[schema["type"]].format(name)
    if "const" in schema:
        number = type(schema["const"]) is int
        yield f"({name} == {schema['const']!r}{f' and not isinstance({name}, bool)' if number else ''})"
    if "enum" in schema:
        number = int in map(type, schema["enum"])
        yield f"({name} in {tuple(schema['enum'])!r}{f' and not isinstance({name}, bool)' if number else ''})"
    for keyword, condition in _BOUNDS.items():
        if keyword in schema:
            yield condition.format(name, schema[keyword])
    if schema.get("pattern") == _HEX:
        yield f'(len({name}) == 64 and not {name}.strip("0123456789abcdef"))'
    elif "pattern" in schema:
        yield f"re.search({schema['pattern']!r}, {name})"
    if "contains" in schema:
        fits = " and ".join(_conditions(schema["contains"], "one"))
        yield f"({schema['minContains']} <= sum(bool({fits}) for one in {name}) <= {schema['maxContains']})"
    if schema.get("required"):
        yield f"{name}.keys() >= {_set(schema['required'])}"
    if schema.get("additionalProperties") is False:
        yield f"{name}.keys() <= {_set(schema['properties'])}"


def _condition_of(schema: dict[str, Any], name: str) -> str:
    """What stands under ``if``, as one expression."""
    parts = [f"{json.dumps(key)} in {name}" for key in schema.get("required", ())]
    for key, inner in schema["properties"].items():
        holds = " and ".join(_conditions(inner, f"{name}[{json.dumps(key)}]"))
        parts.append(f"({json.dumps(key)} not in {name} or {holds})")
    return " and ".join(parts)


def _set(keys: Iterable[str]) -> str:
    return f"{{{', '.join(map(json.dumps, keys))}}}"


def _variable(key: str) -> str:
    """A key as the name of a variable: ``createdAt`` as ``created_at``."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in key)


if __name__ == "__main__":
    TARGET.write_text(compiled(), "utf-8")
