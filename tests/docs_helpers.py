"""What the tests of the documentation share: the pages, their examples and tables, and the places to try examples in.

An example says in a comment above it, which no reader sees, where it is tried: ``<!-- run: till -->``. With
``save: PLACE/FILE`` it is written to a file of that place before anything runs there. ``schema: NAME`` is the schema
that a JSON example fits, ``shown: PLACE`` means that a text was printed there, and ``ci: NAME`` that the gate runs an
example word for word.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from helpers import REPOSITORY

FIRST = "README.md"
CONTRIBUTING = "CONTRIBUTING.md"
PAGES = (FIRST, CONTRIBUTING, *sorted(f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("*.md")))
#: Pages whose links are looked at, too.
LINKING = (*PAGES, "CHANGELOG.md", "benchmarks/README.md")

_FENCE = re.compile(r"(?:^<!-- (?P<marks>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)


class Example(NamedTuple):
    """A fenced block of a page.

    Attributes:
        page: its path.
        line: where it begins.
        language: as the fence says.
        text: its lines, each with a newline.
        marks: what the comment above it says, by name.
    """

    page: str
    line: int
    language: str
    text: str
    marks: Mapping[str, str]

    @property
    def place(self) -> str:
        """Where it is tried, or empty."""
        return self.marks.get("run", "")

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def text_of(page: str) -> str:
    return (REPOSITORY / page).read_text("utf-8")


@cache
def examples(page: str) -> list[Example]:
    text = text_of(page)
    return [
        Example(page, text.count("\n", 0, found.start("language")) + 1, found["language"], found["text"], _marks(found))
        for found in _FENCE.finditer(text)
    ]


def _marks(found: re.Match[str]) -> dict[str, str]:
    marks = {}
    for mark in (found["marks"] or "").split(", "):
        name, _, value = mark.partition(": ")
        marks[name] = value
    return marks


def marked(mark: str, page: str) -> Example:
    """The one example of a page with this mark."""
    [found] = [example for example in examples(page) if mark in example.marks]
    return found


def prose(page: str) -> str:
    """A page without its examples and comments."""
    return re.sub(r"<!--.*?-->", "", _FENCE.sub("", text_of(page)), flags=re.S)


def section(page: str, heading: str) -> str:
    """The text under a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", prose(page), re.M | re.S)
    assert found, f"{page} has no heading {heading!r}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of each row of the tables in a text, without their headings."""
    table = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]
    rules = [number for number, line in enumerate(table) if re.fullmatch(r"[|\s:-]+", line)]
    return [row for number, row in enumerate(cells) if number not in rules and number + 1 not in rules]


def code(cell: str) -> list[str]:
    """What stands in a cell as code."""
    return re.findall(r"`([^`]+)`", cell)


def anchors(page: str) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text_of(page)), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: str) -> Iterator[str]:
    """Where the links of a page lead."""
    yield from re.findall(r"\]\(([^)\s]+)\)", prose(page))


#: Stands for a coding agent: it talks around its answer, as models do, and quotes an object that is none.
AGENT = """\
import json, sys
prompt = sys.stdin.read()
assert "untrusted" in prompt
request = json.loads(prompt[prompt.index('{"schemaVersion"'):])
answer = {
    "architect": {"tasks": [{"subject": "calc.py", "instructions": "Divide by zero."}]},
    "author": {"files": [{"path": "tests/test_divide.py", "content": GOOD}]},
    "reviewer": {"accepted": True, "findings": [], "oracle": {"independent": True, "basis": ["the requirements"]}},
}[request["role"]]
print(f"Sure! I looked at {{}} and {{'a': 1}}.\\n```json\\n{json.dumps(answer, indent=2)}\\n```\\nAnything else?")
"""


def testlore_help(*command: str) -> str:
    """What ``--help`` says, without the examples at its end."""
    return _printed("-m", "testlore", *command, "--help").partition("\nexamples:")[0]


@cache
def commands() -> list[str]:
    """Every command of ``testlore``."""
    return re.findall(r"^    ([a-z-]+)(?= |$)", testlore_help(), re.M)


@cache
def options(command: str) -> frozenset[str]:
    """The options of a command beside those that all have."""
    found = re.findall(r"(?<![\w-])--[a-z][a-z-]*", testlore_help(command))
    return frozenset(found) - {"--help", "--root"}


@cache
def tasks() -> frozenset[str]:
    """The tasks of this repository's own dodo.py."""
    listed = _printed("-m", "doit", "list", "-f", str(REPOSITORY / "dodo.py"), "--quiet")
    return frozenset(line.split()[0] for line in listed.splitlines())


def _printed(*argv: str) -> str:
    done = subprocess.run([sys.executable, *argv], capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def copy_of_checkout(root: Path) -> Path:
    """This repository without what was installed, built or cached in it."""
    left_out = shutil.ignore_patterns(
        *(".git", ".venv", "venv", "node_modules", "__pycache__", "ruvector", "candidates", "generation", "*.egg-info"),
        *(".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".doit.db*"),
    )
    return Path(shutil.copytree(REPOSITORY, root, ignore=left_out))
