"""Reads test cases from JUnit XML.

The parser is Python's own expat. A report with a document type is refused at once, since no report needs one. So it
cannot declare an entity, and nothing is ever expanded or fetched. Size, depth and the number of cases are limited.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any, NamedTuple
from xml.parsers import expat

from testlore.frameworks import union

MAX_BYTES = 32 << 20
MAX_CASES = 100_000
MAX_NAME_CHARACTERS = 4_096
MAX_PATH_CHARACTERS = 1_024

_MAX_DEPTH = 64
_CHUNK = 1 << 16

# What XML allows no document to hold, as it is or as a reference.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REFERENCE = re.compile("&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8}));")
_ENCODING = re.compile(rb"<\?xml[^>]*?encoding=[\"']([^\"'>]*)")


class Case(NamedTuple):
    """A test case of a run.

    Attributes:
        name: its name with those of its classes or suites, but not that of its file.
        file: the path of its file in the project; empty when the report does not say it.
        outcome: ``passed``, ``failed`` or ``skipped``.
    """

    name: str
    file: str
    outcome: str


class Report(NamedTuple):
    """What a report says.

    Attributes:
        cases: how often each case ran.
        whole: whether every test file was loaded, and every case ran to its end.
    """

    cases: Counter[Case]
    whole: bool


class InvalidReport(ValueError):
    """A file is no JUnit XML, or none that we accept. The text says why."""


class _Element(NamedTuple):
    tag: str
    attributes: dict[str, str]


class _Reader:
    """Collects test cases from expat's events.

    Args:
        root: the folder that the tests ran in.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._words = union.report_words()
        self._open: list[_Element] = []
        self._marks: dict[str, str] = {}
        self._half_open: Counter[tuple[str, str]] = Counter()
        self._attempts: dict[tuple[str, ...], Case] = {}
        self._total = 0
        self.cases: Counter[Case] = Counter()
        self.whole = True
        self.seen_root = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        tag = tag.rpartition("}")[2]
        if not self._open:
            if self.seen_root or tag not in ("testsuites", "testsuite"):
                raise InvalidReport(f"its root is <{tag:.40}>, not <testsuites> or <testsuite>")
            self.seen_root = True
        self._open.append(_Element(tag, attributes))
        if len(self._open) > _MAX_DEPTH:
            raise InvalidReport(f"nested deeper than {_MAX_DEPTH} elements")
        if tag == "testcase":
            self._marks = {}
        elif tag in ("failure", "error", "skipped") and self._open[-2].tag == "testcase":
            self._marks[tag] = attributes.get("message", "")
            if attributes.get("type") in self._words.skip_types:
                self._marks["todo"] = ""
        elif tag == "property" and (attributes.get("name"), attributes.get("value")) in self._words.skip_properties:
            self._marks["todo"] = ""

    def end(self, _tag: str) -> None:
        """Handle the end of an element."""
        element = self._open.pop()
        if element.tag == "testcase":
            self._finish(element.attributes)

    def _finish(self, attributes: dict[str, str]) -> None:
        classname, title, marks = attributes.get("classname", ""), attributes.get("name", "").strip(), self._marks
        if "name" not in attributes:  # a test made the framework exit during this case
            self.whole = False
            return
        title = title or "<anonymous>"  # as Node calls it
        if self._is_no_case(classname, title):
            return
        failed = "failure" in marks or "error" in marks
        outcome = "failed" if failed else "skipped" if "skipped" in marks else "passed"
        outcome = "skipped" if "todo" in marks else outcome
        file = self._file(attributes)
        case = Case(self._name(classname, title, file)[:MAX_NAME_CHARACTERS], file[:MAX_PATH_CHARACTERS], outcome)
        identity = (classname, title)
        # When a case fails and its teardown fails too, there may be two elements for it.
        is_teardown = "failure" not in marks and marks.get("error", "").startswith(self._words.teardown_messages)
        if is_teardown and self._half_open[identity]:
            self._half_open[identity] -= 1
            return
        if "failure" in marks and "error" not in marks:
            self._half_open[identity] += 1
        self._count(case, (classname, title, attributes.get("file", ""), attributes.get("line", "")))

    def _count(self, case: Case, place: tuple[str, ...]) -> None:
        # Plugins of pytest that run a failed case again leave an element for each attempt, and the last one counts.
        # Where a report says the line of a case, as pytest's does, two of one name and place are one case.
        before = self._attempts.get(place)
        if before is not None:
            self.cases[before] -= 1
            if not self.cases[before]:
                del self.cases[before]
        else:
            self._total += 1
            if self._total > MAX_CASES:
                raise InvalidReport(f"more than {MAX_CASES} cases")
        self.cases[case] += 1
        if place[-1]:
            self._attempts[place] = case

    def _is_no_case(self, classname: str, title: str) -> bool:
        """Whether an element is a file or the framework itself. If that failed, the report is not whole."""
        marks = self._marks
        failed = "failure" in marks or "error" in marks
        messages = (marks.get("error", ""), marks.get("skipped", ""))
        is_no_case = (
            (not classname and any(message in self._words.file_messages for message in messages))
            or (classname, title) in self._words.runner_names
            or classname in self._words.file_classes
            or self._is_file(classname, title, failed=failed)
        )
        if is_no_case and failed:
            self.whole = False
        return is_no_case

    def _is_file(self, classname: str, title: str, *, failed: bool) -> bool:
        """Whether an element is a test file by its title. A case may have the title of a file, too."""
        file = self._relative(title)
        if file is None:
            return False
        if classname in self._words.nameless_classes:  # we name test files by their whole paths there
            has_broken = self._marks.get("failure") in self._words.file_failures and union.is_test_file(file)
            return os.path.isabs(title) or has_broken
        # The class of each case is its file, and a file that could not be loaded has no other element.
        suite = self._open[-1].attributes
        return failed and classname == title == suite.get("name") and suite.get("tests") == "1"

    def _file(self, attributes: dict[str, str]) -> str:
        """The file of a case: that of its element, or a path among its other names and those of its suites."""
        classname = attributes.get("classname", "")
        keys = ("file", "filepath") if classname in self._words.nameless_classes else ("file", "filepath", "name")
        named = [attributes.get("file", ""), classname]
        for suite in reversed(self._open):
            named += [suite.attributes.get(key, "") for key in keys]
        for text in named:
            found = self._relative(text)
            if found is not None:
                return found
        parts = attributes.get("classname", "").split(".")
        for length in range(len(parts), 0, -1):
            found = self._relative("/".join(parts[:length]) + ".py")
            if found is not None:
                return found
        return ""

    def _relative(self, text: str) -> str | None:
        """``text`` as a path below the root, if there is such a file."""
        if not text or "\0" in text or len(text) > MAX_PATH_CHARACTERS:
            return None
        absolute = os.path.normpath(os.path.join(self._root, text))
        if not absolute.startswith(self._root + os.sep) or not os.path.isfile(absolute):
            return None
        return os.path.relpath(absolute, self._root).replace(os.sep, "/")

    def _name(self, classname: str, title: str, file: str) -> str:
        """The name of a case. It leaves out the file, so that a case keeps its name when it moves to another file."""
        module = file.removesuffix(".py").replace("/", ".")
        if file.endswith(".py"):
            # The class name begins with the module's path from the folder where the framework began its search.
            tails = [module[at:] for at in range(len(module)) if at == 0 or module[at - 1] == "."]
            prefix = next((tail for tail in tails if classname == tail or classname.startswith(f"{tail}.")), "")
            classname = classname[len(prefix) :].removeprefix(".")
        elif self._relative(classname) is not None:
            classname = ""
        suites = [one.attributes.get("name", "") for one in self._open if one.tag == "testsuite"]
        nameless = ("", *self._words.nameless_suites)
        suites = [name for name in suites if name not in nameless]
        if classname in self._words.nameless_classes:
            parts = [*suites, title]
        elif not classname:
            parts = [*(name for name in suites if self._relative(name) is None), title]
        else:
            parts = [classname, title]
        return " > ".join(parts).replace(self._root, "")


def parse(data: bytes, root: str) -> Report:
    """Read a JUnit XML report.

    Args:
        data: the report, at most :data:`MAX_BYTES`.
        root: the folder in which the tests ran, a path without links. Names of files below it are recognized, and its
            own path is removed from names.

    Raises:
        InvalidReport: it is too large, is not XML, has a document type, or is not a JUnit report.
    """
    if len(data) > MAX_BYTES:
        raise InvalidReport(f"larger than {MAX_BYTES} bytes")
    reader = _Reader(root)
    data, encoding = _allowed(data)
    parser = expat.ParserCreate(encoding, namespace_separator="}")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        for start in range(0, len(data), _CHUNK):  # in pieces, so that parsing stops at a refusal
            parser.Parse(data[start : start + _CHUNK], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise InvalidReport(f"no XML: {expat.ErrorString(error.code)}, line {error.lineno}") from None
    except (LookupError, ValueError) as error:
        raise error if isinstance(error, InvalidReport) else InvalidReport(f"no XML: {error}") from None
    return Report(reader.cases, reader.whole)


def _allowed(data: bytes) -> tuple[bytes, str | None]:
    """A report without the characters that XML forbids, and its encoding if we changed that.

    Many frameworks write a message or a title as it is, with the escapes of a terminal. Each such character is replaced
    by its number, as pytest does it, so that names stay distinct.
    """
    declared = _ENCODING.match(data.removeprefix(b"\xef\xbb\xbf"))
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or (
        declared and declared[1].lower() not in (b"utf-8", b"utf8", b"ascii")
    ):
        return data, None
    text = data.decode("utf-8-sig", "surrogateescape")  # bytes that are no text become lone surrogates
    text = _REFERENCE.sub(_plain_reference, _FORBIDDEN.sub(_number, text))
    return text.encode(), "utf-8"


def _number(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"#x{code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code:02X}"


def _plain_reference(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else int(found[2])
    if code < 0x110000 and not _FORBIDDEN.match(chr(code)):
        return found[0]
    return f"#x{code:02X}"


def _refuse_doctype(*_: Any) -> None:
    raise InvalidReport("it has a document type, which no JUnit report needs")
