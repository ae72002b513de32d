"""What a worker gets to see of a project: its requirements, and its source and test files with secrets masked."""

from __future__ import annotations

import os
import re
from itertools import chain, zip_longest
from typing import NamedTuple

from testlore import canonical, frameworks
from testlore.errors import Refusal
from testlore.evidence import masking
from testlore.frameworks import Framework, languages, union
from testlore.project import listing, safe_files
from testlore.ranking import tokens

REQUIREMENTS_FILE = "tddswarm.requirements.md"
MAX_BYTES = 256 << 10  # of the context as JSON, and of the requirements

_SECRET_NAME = re.compile(
    r"(\.env|id_(rsa|dsa|ecdsa|ed25519)|credentials|secrets).*|(.*[._-])?(credential|secret)s?([._-].*)?|.*\.env"
    r"|.*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)"
    r"|\.(netrc|npmrc|pypirc|htpasswd|pgpass|git-credentials|aws|ssh|gnupg|docker|kube)",
    re.IGNORECASE,
)


class Context(NamedTuple):
    """The files that a worker gets to see.

    Attributes:
        files: each as ``{"file": path, "content": text}``, sorted by path.
        masked: the paths of the files in which something was masked.
        secret: the paths of the files that are left out because their names suggest secrets.
        dropped: the paths of the files that are left out because there is no room for them, or they are no text.
    """

    files: list[dict[str, str]]
    masked: list[str]
    secret: list[str]
    dropped: list[str]


def requirements(root: str) -> str:
    """The text of the requirements, which say what is expected, independently of the code.

    Raises:
        Refusal: ``requirements-missing``: there is no such file, or it is too long, blank or not UTF-8.
    """
    try:
        data = safe_files.read_file(root, REQUIREMENTS_FILE, MAX_BYTES)
    except FileNotFoundError:
        raise Refusal("requirements-missing", f"there is no {REQUIREMENTS_FILE}") from None
    except OSError as error:
        raise Refusal("requirements-missing", safe_files.why_unread(REQUIREMENTS_FILE, error)) from None
    if len(data) > MAX_BYTES:
        raise Refusal("requirements-missing", f"{REQUIREMENTS_FILE} is too long; allowed: at most {MAX_BYTES} bytes")
    try:
        found = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        found = ""
    if not found.strip():
        raise Refusal("requirements-missing", f"{REQUIREMENTS_FILE} is blank or no UTF-8; allowed: a nonblank text")
    return found


def collect(root: str, wanted: str) -> Context:
    """Collect the source and test files that a worker gets to see. The same project gives the same files.

    If there is no room for all, the files whose paths share the most words with ``wanted`` come first, source files and
    test files in turn. A file that does not fit is left out whole.

    Args:
        root: the project.
        wanted: a text, such as the requirements.

    Raises:
        Refusal: ``context-missing``: there is no file to show.
    """
    words = frozenset(tokens.terms(wanted))
    code = [path for path in listing.paths(root) if languages.is_code(path)]
    secret = [path for path in code if any(map(_SECRET_NAME.fullmatch, path.split("/")))]
    shown = sorted(set(code) - set(secret))
    shown.sort(key=lambda path: -len(words.intersection(tokens.terms(path))))
    guess = frameworks.framework(frameworks.UNKNOWN)  # a project of several languages has tests of other frameworks too
    tests = [path for path in shown if is_test(path, guess)]
    others = [path for path in shown if not is_test(path, guess)]
    files: dict[str, str] = {}
    masked: list[str] = []
    room = MAX_BYTES - len("[]")
    for path in filter(None, chain.from_iterable(zip_longest(others, tests))):
        content = _read(root, path, room)
        if content is None:
            continue
        safe = masking.masked(content)
        size = len(canonical.to_bytes(canonical.dumps({"file": path, "content": safe}))) + len(",")
        if size <= room:
            files[path], room = safe, room - size
            masked += [path] if safe != content else []
    if not files:
        raise Refusal("context-missing", "no source or test file may be shown to workers")
    return Context(
        [{"file": path, "content": files[path]} for path in sorted(files)],
        sorted(masked),
        secret,
        [path for path in code if path not in files and path not in secret],
    )


def _read(root: str, path: str, room: int) -> str | None:
    """A file's text; ``None`` if it is too long, is no text, or cannot be read safely."""
    try:
        if os.lstat(os.path.join(root, path)).st_size > room:
            return None
        data = safe_files.read_file(root, path, room)
        path.encode("utf-8")
        content = data.decode("utf-8-sig")
    except (OSError, UnicodeError):
        return None
    return None if len(data) > room or "\0" in content else content


def is_test(path: str, framework: Framework) -> bool:
    """Whether a path is a test file's, by the rules of any known framework or of the project's own."""
    return union.is_test_file(path) or framework.is_test_file(path)
