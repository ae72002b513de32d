"""Which Python functions of a candidate are new: by their syntax, wherever they stand and whatever they are called."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testlore.evidence import functions
from testlore.evidence.functions import Comparison

ONE = "from calc import clamp\n\n\ndef test_one():\n    assert clamp(1) == 1\n"
IN_CLASS = (
    ONE.replace("def ", "class TestIt:\n    def ").replace("    assert", "        assert").replace("()", "(self)")
)
PLACE = ("test_a.py", "test_one")


def compared(
    before: Mapping[str, str], after: Mapping[str, str], others: Mapping[str, str] | None = None
) -> Comparison:
    def encoded(files: Mapping[str, str]) -> dict[str, bytes]:
        return {path: text.encode() for path, text in files.items()}

    return functions.compare(encoded(before), encoded(after), lambda: encoded(others or {}))


@pytest.mark.parametrize(
    "after",
    [
        ONE,
        ONE.replace("    assert", "    # why\n\n    assert"),
        ONE.replace("clamp(1) == 1", "(clamp(1)\n        == 1)"),
        ONE.replace("    assert", '    """What it shows."""\n    assert'),
        f"{ONE}\n\nX = 1\n",
    ],
    ids=["the same", "a comment", "layout", "a docstring", "something else"],
)
def test_comments_layout_and_docstrings_make_no_function_new(after: str) -> None:
    found = compared({"test_a.py": ONE}, {"test_a.py": after})
    assert (found.differs, found.redecorated, found.moved) == (frozenset(), frozenset(), {})


@pytest.mark.parametrize(
    ("old", "new"),
    [("== 1", "== 2"), ("test_one()", "test_one(tmp_path)"), ("def ", "async def "), ("from calc", "from other")],
)
def test_another_body_or_what_it_imports_make_it_new(old: str, new: str) -> None:
    assert compared({"test_a.py": ONE}, {"test_a.py": ONE.replace(old, new)}).differs == {PLACE}


def test_other_decorators_alone_are_told_apart() -> None:
    before = ONE.replace("def", "@mark(1)\ndef")
    found = compared({"test_a.py": before}, {"test_a.py": before.replace("mark(1)", "mark(1, 2)")})
    assert (found.differs, found.redecorated) == (frozenset(), frozenset([PLACE]))


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("test_b.py", ONE, "test_one"),
        ("test_a.py", ONE.replace("test_one", "test_renamed"), "test_renamed"),
        ("test_b.py", IN_CLASS, "TestIt.test_one"),
    ],
    ids=["to another file", "under another name", "into a class"],
)
def test_a_function_with_the_same_body_is_moved(path: str, text: str, name: str) -> None:
    found = compared({"test_a.py": ONE}, {path: text})
    assert (found.moved, found.differs) == ({(path, name): PLACE}, frozenset())


def test_a_copy_of_an_untouched_files_function_is_not_new() -> None:
    copy = ONE.replace("test_one", "test_again")
    assert compared({}, {"test_b.py": copy}, {"test_a.py": ONE}).moved == {("test_b.py", "test_again"): PLACE}
    other = copy.replace("from calc", "from shop")
    assert compared({}, {"test_b.py": other}, {"test_a.py": ONE}).differs == {("test_b.py", "test_again")}


def test_a_file_that_cannot_be_parsed_is_not_known() -> None:
    found = compared({"test_a.py": "print 'two'\n"}, {"test_a.py": "def (:\n", "test_b.py": ONE})
    assert found.known == {"test_b.py"}
    assert found.differs == {("test_b.py", "test_one")}


@pytest.mark.parametrize(
    ("case", "function"),
    [("test_a", "test_a"), ("test_a[1 > 0]", "test_a"), ("TestA.TestB > test_c[x]", "TestA.TestB.test_c")],
)
def test_a_case_is_of_the_function_that_it_is_named_by(case: str, function: str) -> None:
    assert functions.of_case(case) == function


@given(st.dictionaries(st.sampled_from(["test_a.py", "test_b.py"]), st.binary(max_size=60)), st.binary(max_size=60))
def test_no_content_ends_in_an_exception(before: dict[str, bytes], after: bytes) -> None:
    functions.compare(before, {"test_a.py": after}, lambda: before)
