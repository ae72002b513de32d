"""Compile the form of a record, as ``schemas/store.schema.json`` describes it, to plain Python.

``python -m proof.compile_form`` writes ``pipeline/testlore/memory/form.py``. jsonschema stays the judge of a store and
the source of messages. The compiled form checks each record that goes out again, where importing jsonschema would cost
more than the whole recall. A test holds the file to the schema, and both to the same verdicts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from testlore import schemas

TARGET = Path(__file__).resolve().parent.parent / "pipeline/testlore/memory/form.py"

_HEAD = '''"""The form of a record, compiled from ``schemas/store.schema.json``: see ``proof/compile_form.py``."""

from __future__ import annotations

import re
from typing import Any

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
    "maxLength": "len({0}) <= {1}",
    "maxItems": "len({0}) <= {1}",
}
_KNOWN = frozenset(
    "type const enum pattern items uniqueItems required properties additionalProperties if then $ref "
    "description".split()
)
_KNOWN |= _BOUNDS.keys()


def compiled() -> str:
    """The source of the module."""
    definitions = schemas.load("store")["$defs"]
    return _HEAD + "".join(f"\n{_function(name, schema)}\n" for name, schema in definitions.items())


def _function(name: str, schema: dict[str, Any]) -> str:
    lines = [f"def is_{name}(value: Any) -> bool:", f'    """Whether a value has the form of a {name}."""']
    lines += [f"    {line}" for line in _statements(schema, "value")]
    return "\n".join([*lines, "    return True"])


def _statements(schema: dict[str, Any], name: str) -> Iterator[str]:
    """Statements that return false unless the variable ``name`` fits the schema; its type first."""
    unknown = schema.keys() - _KNOWN
    if unknown:
        raise ValueError(f"the keywords {sorted(unknown)} are not compiled yet")
    for condition in _conditions(schema, name):
        yield f"if not {condition}:"
        yield "    return False"
    for key, inner in schema.get("properties", {}).items():
        variable = _variable(key)
        body = list(_statements(inner, variable))
        if body and key in schema.get("required", ()):
            yield f"{variable} = {name}[{json.dumps(key)}]"
            yield from body
        elif body:
            yield f"if {json.dumps(key)} in {name}:"
            yield f"    {variable} = {name}[{json.dumps(key)}]"
            yield from (f"    {line}" for line in body)
    if "items" in schema:
        yield f"for item in {name}:"
        yield from (f"    {line}" for line in _statements(schema["items"], "item"))
    if schema.get("uniqueItems"):
        yield f"if len(set({name})) != len({name}):"
        yield "    return False"
    if "if" in schema:
        [(asked, condition)], [(told, consequence)] = (schema[part]["properties"].items() for part in ("if", "then"))
        variable, other = _variable(asked), _variable(told)
        yield f"if {' and '.join(_conditions(condition, variable))}:"
        yield from (f"    {line}" for line in _statements(consequence, other))


def _conditions(schema: dict[str, Any], name: str) -> Iterator[str]:
    if "$ref" in schema:
        yield f"is_{schema['$ref'].rpartition('/')[2]}({name})"
    if "type" in schema:
        yield _TYPES[schema["type"]].format(name)
    for value in [schema["const"]] if "const" in schema else []:
        yield (
            f"({name} == {value!r} and not isinstance({name}, bool))" if type(value) is int else f"{name} == {value!r}"
        )
    if "enum" in schema:
        yield f"{name} in {tuple(schema['enum'])!r}"
    for keyword, condition in _BOUNDS.items():
        if keyword in schema:
            yield condition.format(name, schema[keyword])
    if schema.get("pattern") == _HEX:
        yield f'(len({name}) == 64 and not {name}.strip("0123456789abcdef"))'
    elif "pattern" in schema:
        yield f"re.search({schema['pattern']!r}, {name})"
    if "required" in schema:
        yield f"{name}.keys() >= {_set(schema['required'])}"
    if schema.get("additionalProperties") is False:
        yield f"{name}.keys() <= {_set(schema['properties'])}"


def _set(keys: Any) -> str:
    return f"{{{', '.join(map(json.dumps, keys))}}}"


def _variable(key: str) -> str:
    """A key as the name of a variable: ``createdAt`` as ``created_at``."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in key)


if __name__ == "__main__":
    TARGET.write_text(compiled(), "utf-8")
