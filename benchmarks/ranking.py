"""Saves what ``testlore evaluate`` measures on public histories: ``python benchmarks/ranking.py NAME=DIR …``.

``--model-root DIR`` names a project whose configuration has an embedding command. It is then measured too.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from testlore.evaluate import RECALL_AT, measure
from testlore.project.settings import CONFIG_FILE

RESULTS = Path(__file__).parent / "ranking.json"
_DEFAULTS = {"plugins": {"ruvector": {"enabled": True}}}


def _figures(repository: str, root: str, prefixes: tuple[str, ...]) -> dict[str, Any]:
    report = measure(repository, root).to_dict()
    kept = {
        one["name"]: {
            "mrrAt10": one["mrrAt10"],
            "recallAt": {str(k): one["recallAt"][str(k)] for k in RECALL_AT},
            **({"reason": one["reason"]} if "reason" in one else {}),
        }
        for one in report["figures"]
        if one["name"].startswith(prefixes)
    }
    return {**{key: report[key] for key in ("head", "newest", "oldest", "cases")}, "figures": kept}


def main() -> None:
    """Measure the repositories of the command line, and save their figures beside those of the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model-root", metavar="DIR")
    parser.add_argument("repositories", nargs="+", metavar="NAME=DIR")
    arguments = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for given in arguments.repositories:
        name, _, folder = given.partition("=")
        print(name, file=sys.stderr)
        with tempfile.TemporaryDirectory() as root:
            Path(root, CONFIG_FILE).write_text(json.dumps(_DEFAULTS))
            found = _figures(folder, root, ("shared", "hashed", "lexical", "native"))
        if arguments.model_root:
            model = _figures(folder, arguments.model_root, ("external",))
            found["figures"] |= model["figures"]
        results[name] = found
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
