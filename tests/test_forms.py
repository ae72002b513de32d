"""The compiled forms say the same as jsonschema, of every value."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from episodes import make_episode, make_episode_2
from helpers import REPOSITORY
from hypothesis import given, settings
from hypothesis import strategies as st
from testlore import canonical, forms, schemas

from proof.compile_forms import TARGET, compiled

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 10_000_001)
    | st.floats(allow_nan=False)
    | st.sampled_from(
        [1.0, 0.0, 127.5, 1e300, "", "accepted", "boundary", "python", "command", "a" * 64, "0" * 64, "\n"]
    )
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)

CONFIG = {
    "learning": {"enabled": True},
    "adapter": "pytest",
    "runner": ["python", "-m", "pytest", "{files}"],
    "environment": {"a": "b"},
    "services": {"db": "15"},
    "agent": ["agent"],
    "validation": {"timeoutSeconds": 60},
    "plugins": {
        "ruvector": {
            "enabled": True,
            "dimensions": 128,
            "timeoutMs": 1000,
            "embedding": {"mode": "command", "argv": ["embed"], "identity": "x"},
            "runtime": "node",
        }
    },
}
STORE = canonical.seal(
    {"schemaVersion": 1, "records": [make_episode(1), make_episode(2, "", outcome="rejected", warnings=["case-loss"])]}
)
STORE_2 = canonical.seal(
    {
        "schemaVersion": 2,
        "records": [make_episode(1), make_episode_2(2), make_episode_2(3, outcome="rejected", warnings=["flaky"])],
        "forgotten": [{"id": "a" * 64, "at": "2026-01-31T23:59:59.000Z"}],
    }
)
VALUES = {
    "store": (STORE, forms.is_store, "store", ""),
    "store of version 2": (STORE_2, forms.is_store, "store", ""),
    "record": (make_episode(3), forms.is_record, "store", "record"),
    "record of version 2": (make_episode_2(3), forms.is_record, "store", "record"),
    "config": (CONFIG, forms.is_config, "config", ""),
}


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


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
@settings(deadline=None, max_examples=400)
def test_a_form_says_what_jsonschema_says(kind: str, data: st.DataObject) -> None:
    valid, form, schema, definition = VALUES[kind]
    value = data.draw(damaged(valid))
    assert form(value) == (schemas.first_problem(schema, value, definition) is None)


@pytest.mark.parametrize("kind", VALUES)
@given(value=JSON)
@settings(deadline=None)
def test_a_form_says_what_jsonschema_says_of_anything(kind: str, value: Any) -> None:
    _, form, schema, definition = VALUES[kind]
    assert form(value) == (schemas.first_problem(schema, value, definition) is None)


@pytest.mark.parametrize("kind", VALUES)
def test_what_is_valid_has_its_form(kind: str) -> None:
    valid, form, _, _ = VALUES[kind]
    assert form(valid)


@pytest.mark.parametrize("name", ["till", "twelve", "two-hundred"])
def test_the_stores_of_the_test_data_have_their_form(name: str) -> None:
    path = REPOSITORY / "tests/data" / name / ".tddswarm/learning/index.json"
    assert forms.is_store(json.loads(path.read_text("utf-8")))


def test_the_compiled_forms_are_those_of_todays_schemas() -> None:
    assert TARGET.read_text("utf-8") == compiled(), "run: python -m proof.compile_forms"
