"""The patterns and tags of an episode, found in its tests by simple rules on names and contents."""

from __future__ import annotations

import ast
import io
import os
import re
import textwrap
import tokenize
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from testlore import canonical
from testlore.evidence import import_statements, masking
from testlore.frameworks import languages
from testlore.memory import texts

MAX_PATTERNS = 8

#: The tags that depend on the tests' text. A tag applies when its rule matches a word: one to three parts of a name.
_TAG_RULES = {
    "boundary": r"boundar(y|ies)|edge|limits?|zero|empty|min(imum)?|max(imum)?|overflow|underflow|negative|"
    r"off_by_one|first|last|largest|smallest|none|null",
    "error": r"raises?|errors?|exceptions?|throws?|thrown|invalid|rejects?|rejected|refuses?|refused|fails?|failure",
    "integration": r"integration|e2e|end_to_end|subprocess|database|http|server|socket|popen",
    "async": r"async|await|asyncio|promises?",
    "mock": r"mocks?|mocked|monkeypatch|magicmock|stubs?|fakes?|spy|spies|spyon",
    "table": r"parametrize|parameterized|subtest|each|table",
    "assertion": r"assert|asserts|asserted|expect|expects|approx",
}
_WORD_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PATH_MASK = "<path>"
_RELATIVE_PATH = re.compile(r"""(?P<quote>["'`])\.{1,2}/[^"'`\n]*(?P=quote)""")
_HOME_PATH = re.compile(r"(?<![\w/])(/(home|Users|root|private|tmp|var|mnt|opt|srv)/|[A-Za-z]:\\)[^\s'\"`)]*")

_LEAST_LABEL = 4  # shorter labels occur in any code


class PrivateNames(NamedTuple):
    """Names that a pattern must not hold.

    Attributes:
        labels: the values of ``services`` and ``environment`` in the configuration.
        paths: the paths of the project's files.
        root: the project's folder, absolute.
    """

    labels: frozenset[str]
    paths: frozenset[str]
    root: str


def collect(changed: Mapping[str, bytes], before: Mapping[str, bytes], private: PrivateNames) -> list[dict[str, str]]:
    """The patterns of changed test files: each new or changed Python test; in other languages the start of the file.

    A Python test has the imports that it needs before it.

    Args:
        changed: the content of the changed test files, by path, in the candidate's order.
        before: the old content of those that existed, by path.
        private: the names to mask.

    Returns:
        At most :data:`MAX_PATTERNS`, as a record holds them.
    """
    found: list[tuple[str, str]] = []
    for path, content in changed.items():
        language, text = languages.language(path), _text(content)
        if language == "python":
            new = _new_tests(test_functions(text), before.get(path))[:MAX_PATTERNS]
            found += [(language, _with_imports(text, code)) for code in new]
        else:
            found.append((language, text))
    patterns = []
    for language, text in found:
        safe = mask(text, private).strip()
        if safe:
            kept = texts.shorten(safe, texts.PATTERN)
            patterns.append({"language": language, "content": kept, "hash": canonical.digest(kept)})
    return patterns[:MAX_PATTERNS]


def test_functions(source: str) -> dict[str, str]:
    """The test functions of Python source, by qualified name, in order; none if this interpreter cannot parse it.

    A function comes with its decorators and without comments.
    """
    try:
        tree = ast.parse(source)
        lines = _without_comments(source)
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return {}
    found: dict[str, str] = {}
    for name, node in _test_nodes(tree.body, ""):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        kept = [line for line in lines[first - 1 : node.end_lineno] if line is not None]
        found[name] = textwrap.dedent("\n".join(kept)).strip("\n")
    return found


def _test_nodes(body: list[ast.stmt], prefix: str) -> Iterable[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _test_nodes(node.body, f"{prefix}{node.name}.")


def _without_comments(source: str) -> list[str | None]:
    """The lines of ``source`` without comments; ``None`` for a line that held only a comment."""
    lines: list[str | None] = list(io.StringIO(source))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            code = (lines[row - 1] or "")[:column].rstrip()
            lines[row - 1] = code or None
    return [line if line is None else line.rstrip("\r\n") for line in lines]


def mask(text: str, private: PrivateNames) -> str:
    """``text`` with obvious secrets, labels and paths masked."""
    text = masking.masked(text)
    for label in sorted(private.labels, key=len, reverse=True):
        if len(label) >= _LEAST_LABEL:
            text = text.replace(label, masking.MASK)
    text = text.replace(private.root, _PATH_MASK)
    text = _RELATIVE_PATH.sub(lambda match: f"{match['quote']}{_PATH_MASK}{match['quote']}", text)
    text = _HOME_PATH.sub(_PATH_MASK, text)
    for path in sorted(private.paths, key=len, reverse=True):
        if path in text and ("/" in path or "." in path):
            text = re.sub(rf"(?<![\w.-]){re.escape(path)}(?![\w-])", _PATH_MASK, text)
    return text


def tags(texts: Iterable[str]) -> list[str]:
    """The tags of tests with these texts, in the order of an episode."""
    words: set[str] = set()
    for text in texts:
        parts = [part.lower() for part in _WORD_PARTS.findall(text)]
        words.update(parts)
        words.update("_".join(parts[at : at + 3]) for at in range(len(parts)))
        words.update(parts[at] + parts[at + 1] for at in range(len(parts) - 1))
    return [tag for tag, rule in _TAG_RULES.items() if any(re.fullmatch(rule, word) for word in words)]


def test_texts(changed: Mapping[str, bytes], before: Mapping[str, bytes]) -> list[str]:
    """The texts that decide the tags: new and changed Python tests, and the whole file in other languages."""
    texts = []
    for path, content in changed.items():
        text = _text(content)
        functions = test_functions(text) if languages.language(path) == "python" else {}
        texts += _new_tests(functions, before.get(path)) if functions else [text]
    return texts


def _new_tests(functions: Mapping[str, str], before: bytes | None) -> list[str]:
    """The code of those test functions that are new or changed.

    Args:
        functions: as :func:`test_functions` returns them.
        before: the file's old content; ``None`` when there was no such file.
    """
    known = test_functions(_text(before)) if before is not None and functions else {}
    return [code for name, code in functions.items() if known.get(name) != code]


def _with_imports(source: str, code: str) -> str:
    """Code with the imports before it that it needs, as many as leave it whole."""
    room = texts.PATTERN - canonical.utf16_length(code) - 1
    fitting = ""
    for statement in import_statements.needed(source, code):
        if canonical.utf16_length(fitting) + canonical.utf16_length(statement) < room:
            fitting += f"{statement}\n"
    return f"{fitting}\n{code}" if fitting else code


def _text(content: bytes) -> str:
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def private_names(root: str, labels: Iterable[str], paths: Iterable[str]) -> PrivateNames:
    """The names that must not get into the patterns of a project's tests."""
    return PrivateNames(frozenset(labels), frozenset(paths), os.path.abspath(root))
