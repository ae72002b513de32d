"""Patterns and tags: what of a test is kept, and what is masked in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testlore import canonical
from testlore.evidence import patterns
from testlore.evidence.patterns import PrivateNames

NOTHING = PrivateNames(frozenset(), frozenset(), "/projects/shop")

TEST = '''\
"""Module."""
import pytest  # why


@pytest.mark.parametrize(
    "n",  # each
    [0, 1],
)
# about it
def test_table(n):
    """Say what."""
    text = "# no comment"  # but this is one
    # a line

    assert n == 0 or text


def helper():
    pass


class TestGroup:
    # grouped
    @staticmethod
    async def test_inside():
        assert True

    class TestDeeper:
        def test_deep(self): assert True  # end
'''


def kept(content: str, before: str | None = None, path: str = "tests/test_a.py") -> list[str]:
    old = {} if before is None else {path: before.encode()}
    return [one["content"] for one in patterns.collect({path: content.encode()}, old, NOTHING)]


def test_a_pattern_is_one_test_function_with_its_decorators_and_without_comments() -> None:
    assert kept(TEST) == [
        "import pytest\n\n"
        '@pytest.mark.parametrize(\n    "n",\n    [0, 1],\n)\ndef test_table(n):\n    """Say what."""\n'
        '    text = "# no comment"\n\n    assert n == 0 or text',
        "@staticmethod\nasync def test_inside():\n    assert True",
        "def test_deep(self): assert True",
    ]


IMPORTS = """\
from __future__ import annotations
import os, sys  # why
import shop.rules
from shop.till import (
    Till,  # the till
    add as plus,
)
from shop.rules import *
"""


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("def test_a():\n    assert plus(1, 2) == 3", ["from shop.till import add as plus"]),
        ("def test_a():\n    shop.rules.check(sys.path)", ["import sys", "import shop.rules"]),
        ("@os.mark\nasync def test_a(x: Till): pass", ["import os", "from shop.till import Till"]),
        ("def test_a(): pass", []),
    ],
)
def test_a_python_pattern_has_the_imports_that_it_needs_before_it(code: str, needed: list[str]) -> None:
    statements = [*needed, "from shop.rules import *"]
    assert kept(f"{IMPORTS}\n\n{code}\n") == ["\n".join(statements) + f"\n\n{code}"]


def test_imports_are_kept_as_far_as_the_test_stays_whole() -> None:
    for length, expected in ((1000, 3), (1120, 2), (1250, 0)):
        code = f"def test_a():\n    a0, a1, a2 = '{'x' * (length - 40)}'"
        source = "\n".join([*(f"from {'m' * 20} import a{n}" for n in range(3)), "", code])
        (found,) = kept(source)
        assert found.count("import") == expected
        assert found.endswith(code[:1200])


def test_only_new_and_changed_tests_are_patterns() -> None:
    changed = TEST.replace("def test_deep(self): assert True", "def test_deep(self): assert 1 + 1 == 2")
    assert kept(changed, before=TEST) == ["def test_deep(self): assert 1 + 1 == 2"]
    assert kept(TEST.replace("# about it", "# about something else"), before=TEST) == []


def test_the_lines_of_a_windows_file_are_read_as_any_others() -> None:
    assert kept(TEST.replace("\n", "\r\n")) == kept(TEST)


def test_another_language_gives_the_beginning_of_its_file() -> None:
    content = "import test from 'node:test';\ntest('zero', () => {});\n" + "// more\n" * 400
    (pattern,) = patterns.collect({"test/a.test.ts": content.encode()}, {}, NOTHING)
    assert pattern["language"] == "typescript"
    assert content.startswith(pattern["content"])
    assert len(pattern["content"]) > 1100


@pytest.mark.parametrize("content", ["def test_(: pass", "", "x = 1\n", "\0", "def test_a():\n  'open"])
def test_python_that_has_no_readable_test_gives_no_pattern(content: str) -> None:
    assert kept(content) == []


def test_at_most_eight_patterns_of_1200_characters_are_kept() -> None:
    content = "\n".join(f"def test_{n}():\n    assert '{'𝄞' * 1000}'" for n in range(12))
    found = kept(content)
    assert len(found) == 8
    assert all(1190 <= canonical.utf16_length(one) <= 1200 for one in found)
    assert all("\ufffd" not in one for one in found)


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ('password = "hunter2hunter2"', "hunter2hunter2"),
        ('password = """many\nlines"""', "lines"),
        ("API_KEY: str = 'k-123456'", "k-123456"),
        ('{"client_secret": "abc123def"}', "abc123def"),
        ('login(token="t0k3n-value")', "t0k3n-value"),
        ('key = "AKIAIOSFODNN7EXAMPLE"', "AKIAIOSFODNN7EXAMPLE"),
        ('x = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"', "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
        ('x = "sk-proj-abcdefghijklmnopqrstuv"', "abcdefghijklmnopqrstuv"),
        ('h = {"Authorization": "Bearer abcdef0123456789"}', "abcdef0123456789"),
        ('url = "postgres://user:pa55w0rd@db/x"', "pa55w0rd"),
        ('j = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"', "eyJzdWIiOiIxIn0"),
        ('k = """-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"""', "MIIEow"),
        ('p = "/home/someone/project/x.py"', "someone"),
        ('p = "/projects/shop/data.json"', "/projects/shop"),
    ],
)
def test_obvious_secrets_and_places_are_masked(line: str, secret: str) -> None:
    masked = patterns.mask(line, NOTHING)
    assert secret not in masked
    assert "<masked>" in masked or "<path>" in masked


@pytest.mark.parametrize(
    "line",
    [
        "assert total(0, 75) == 75",
        "tokens = split('a b')",
        "assert key == 'name'",
        "a / b / c",
        "with open(path): pass",
    ],
)
def test_plain_code_is_not_masked(line: str) -> None:
    assert patterns.mask(line, NOTHING) == line


def test_service_labels_and_project_paths_are_masked() -> None:
    private = PrivateNames(frozenset(["db.internal:5432", "x"]), frozenset(["src/calc.py", "data"]), "/projects/shop")
    line = "connect('db.internal:5432'); open('src/calc.py'); from '../src/other.js'; data = max"
    assert patterns.mask(line, private) == "connect('<masked>'); open('<path>'); from '<path>'; data = max"


@given(st.text(max_size=300))
def test_any_text_can_be_masked_cut_and_tagged(text: str) -> None:
    for path in ("test_a.py", "a.test.js"):
        found = patterns.collect({path: text.encode("utf-8", "replace")}, {}, NOTHING)
        assert all(one["hash"] == canonical.digest(one["content"]) for one in found)
    assert set(patterns.tags([text])) <= set(patterns._TAG_RULES)


@pytest.mark.parametrize(
    ("code", "tags"),
    [
        ("def test_zero_boundary(): assert f(0) == 0", ["boundary", "assertion"]),
        ("def test_x():\n    with pytest.raises(ValueError): f()", ["error"]),
        ("async def test_x(): assert await f()", ["async", "assertion"]),
        ("def test_x(monkeypatch): assert f()", ["mock", "assertion"]),
        ("@pytest.mark.parametrize('n', [1])\ndef test_x(n): assert n", ["table", "assertion"]),
        ("def test_x(): subprocess.run(['ls'])", ["integration"]),
        ("test.each([1])('n', n => expect(n).toBe(1))", ["table", "assertion"]),
        ("def test_plain(): f()", []),
    ],
)
def test_tags_are_told_from_the_words_of_tests(code: str, tags: list[str]) -> None:
    assert patterns.tags([code]) == tags
