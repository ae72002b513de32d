"""Digests and seals against values that ECMAScript itself wrote."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testlore import canonical

CASES = json.loads((Path(__file__).parent / "data" / "digests.json").read_text("utf-8"))["cases"]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["json"][:40])
def test_compact_form_and_digest_are_ecmascripts(case: dict[str, Any]) -> None:
    value = canonical.loads(case["json"])
    if case["compact"] is not None:
        assert canonical.dumps(value) == case["compact"]
    assert canonical.digest(value) == case["digest"]


@given(values)
def test_what_is_written_is_read_back_and_written_the_same(value: Any) -> None:
    once = canonical.dumps(value)
    once.encode("utf-8")
    assert canonical.dumps(canonical.loads(once)) == once


@given(values)
def test_the_indented_form_is_the_same_value_as_javascript_lays_it_out(value: Any) -> None:
    text = canonical.pretty(value)
    assert canonical.dumps(canonical.loads(text)) == canonical.dumps(value)
    assert json.dumps(json.loads(text), indent=2, ensure_ascii=False).count("\n") == text.count("\n")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_keeps_its_value(number: float) -> None:
    assert float(canonical.dumps(number)) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [(1e21, "1e+21"), (123e18, "123000000000000000000"), (-1.5e-7, "-1.5e-7"), (1e-6, "0.000001"), (-0.0, "0"),
     (2**53 + 1, "9007199254740992"), (10**400, "null"), (math.inf, "null"), (0.1, "0.1"), (100.0, "100")],
)  # fmt: skip
def test_numbers_take_the_shortest_form(number: float, text: str) -> None:
    assert canonical.dumps(number) == text


@given(st.dictionaries(st.text(max_size=8), values, max_size=5))
def test_a_seal_fits_what_was_sealed_and_nothing_else(value: dict[str, Any]) -> None:
    sealed = canonical.seal(value)
    assert canonical.is_sealed(canonical.loads(canonical.dumps(sealed)))
    assert not canonical.is_sealed({**sealed, "one more key": 1})
    assert not canonical.is_sealed({**sealed, "integrity": "0" * 64})


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf{}", b"\xff", b"NaN", b"[Infinity]", b"{", b"", b"[" * 100_000])
def test_what_is_no_strict_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        canonical.loads(data)


@given(st.text(st.characters(exclude_categories=[])))
def test_characters_are_counted_in_utf16(text: str) -> None:
    assert canonical.utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize("write", [canonical.dumps, canonical.pretty])
def test_what_is_nested_too_deeply_has_no_text(write: Callable[[Any], str]) -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested too deeply"):
        write(value)
