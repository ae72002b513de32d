"""Saves the coverage of each room of ``testlore``, from what coverage.py has just measured."""

from __future__ import annotations

import json
import platform
from collections import Counter
from pathlib import Path
from typing import Any

from coverage import Coverage
from tabulate import tabulate

RESULTS = Path(__file__).parent / "coverage.json"


def totals(measured: Coverage) -> dict[str, dict[str, Any]]:
    """For each room: its statements, how many of them no test ran, and the percentage that ran.

    Args:
        measured: what ``coverage combine`` left.
    """
    statements: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for file in measured.get_data().measured_files():
        _, lines, _, missing, _ = measured.analysis2(file)
        statements[room(file)] += len(lines)
        missed[room(file)] += len(missing)
    rooms = {name: _row(statements[name], missed[name]) for name in sorted(statements)}
    return {**rooms, "all": _row(statements.total(), missed.total())}


def room(file: str) -> str:
    """The folder of ``testlore`` that a module is in, or the module's own name when it is in none."""
    parts = Path(file).parts
    inside = parts[len(parts) - parts[::-1].index("testlore") :]
    return inside[0].removesuffix(".py")


def _row(statements: int, missed: int) -> dict[str, Any]:
    percent = 100 * (statements - missed) / statements if statements else 100.0
    return {"statements": statements, "missed": missed, "percent": round(percent, 1)}


def main() -> None:
    """Print the totals, and save them."""
    measured = Coverage()
    measured.load()
    rooms = totals(measured)
    RESULTS.write_text(json.dumps({"python": platform.python_version(), "rooms": rooms}, indent=2) + "\n")
    print(tabulate([[name, *row.values()] for name, row in rooms.items()], ("room", "statements", "missed", "%")))


if __name__ == "__main__":
    main()
