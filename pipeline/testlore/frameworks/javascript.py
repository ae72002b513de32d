"""What the frameworks of JavaScript and TypeScript share."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from testlore.frameworks import Extent, ProjectFiles

#: Files that decide how JavaScript tests run.
TOOL_FILES: tuple[str, ...] = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb"),
    *("tsconfig.json", "jest.config.js", "jest.config.ts", "vitest.config.js", "vitest.config.ts", "vite.config.ts"),
)
PROTECTED: tuple[str, ...] = ("bun.lock", "deno.json", "deno.lock", ".npmrc", ".mocharc.json")

#: The folder of installed packages, and the caches that tools keep in it.
PACKAGES, PACKAGE_CACHES = "node_modules", (".cache", ".vite", ".vitest")

_TEST_FOLDERS = frozenset(["test", "tests", "__tests__"])
_SUPPORT_FOLDERS = frozenset(["fixtures", "__fixtures__", "__mocks__", "__snapshots__", "helpers", "support", "data"])
_CONFIG_ENDINGS = ("js", "ts", "mjs", "cjs", "mts", "cts", "json")


def program() -> str:
    """Node, wherever it is installed."""
    return "node"


def folders_of_packages(folder: str) -> list[str]:
    """The folders of installed packages in which Node looks for one, from a folder upwards."""
    found = []
    while True:
        installed = os.path.join(folder, PACKAGES)
        if os.path.isdir(installed):
            found.append(installed)
        if folder == os.path.dirname(folder):
            return found
        folder = os.path.dirname(folder)


def is_configured(name: str, files: ProjectFiles) -> bool:
    """Whether a project has a configuration file of this package, or ``package.json`` names the package."""
    configurations = [f"{name}.config.{ending}" for ending in _CONFIG_ENDINGS]
    return files.has(*configurations) or files.mention(f'"{name}"', "package.json")


def finds_tests_itself(runner: Sequence[str], files: Sequence[str]) -> list[str]:
    """None: the runner finds the test files by its own configuration."""
    return []


def is_test_file(path: str) -> bool:
    """Whether a script is a test by its own name or that of a folder around it."""
    *folders, name = path.split("/")
    if re.fullmatch(r"(.+[._-](test|spec)|test|test-.+)\.[cm]?[jt]sx?", name):
        return True
    in_tests = not _TEST_FOLDERS.isdisjoint(folders) and _SUPPORT_FOLDERS.isdisjoint(folders)
    is_script = re.fullmatch(r".+\.[cm]?[jt]sx?", name) is not None
    return in_tests and is_script and ".d." not in name and ".config." not in name


def ran_to_end(status: int, *, stopped_early: bool = False) -> bool:
    """Whether the suite was not ended by a signal."""
    return status >= 0


def environment(copy: str, folder: str, extent: Extent | None = None) -> dict[str, str]:
    """The variables that runs need: none."""
    return {}
