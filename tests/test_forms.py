"""The compiled forms say the same as jsonschema, of every value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from damage import JSON, damaged
from episodes import make_episode, make_episode_2
from helpers import REPOSITORY
from hypothesis import given, settings
from hypothesis import strategies as st
from testlore import canonical, forms, schemas

from proof.compile_forms import TARGET, compiled

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
