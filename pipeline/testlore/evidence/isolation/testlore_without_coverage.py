"""A plugin for pytest: pytest-cov measures nothing, if it is there. It would fail a run of a part of the suite.

It runs in the project's own interpreter, so it uses only the standard library and pytest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.hookimpl(hookwrapper=True)  # a wrapper begins before pytest-cov, in whatever order plugins are loaded
def pytest_load_initial_conftests(early_config: Any, args: list[str]) -> Iterator[None]:
    """Add the option after those that the project has: before them, pytest-cov would warn of it."""
    options = early_config.known_args_namespace
    if hasattr(options, "no_cov"):
        options.no_cov = True  # pytest-cov looks here, and pytest-xdist tells its workers what is in the arguments
        args.insert(args.index("--") if "--" in args else len(args), "--no-cov")
    yield
