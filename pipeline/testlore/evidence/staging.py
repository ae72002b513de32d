"""Stages a proposed patch: checks it, digests it, and keeps it as a candidate. No source file changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from testlore import canonical
from testlore.errors import Refusal
from testlore.evidence import candidate, patch, state
from testlore.evidence.state import ProjectState
from testlore.frameworks import Framework, union
from testlore.progress import Progress, silent
from testlore.project.provenance import compatibility_reasons

# A function or class of Python, a call of JavaScript, an example or a scenario in a text: runners may be configured to
# take any of them for a test.
_LIKE_A_TEST = re.compile(
    r"^\s*(async\s+)?(def|class)\s+\w*(test|spec|check|should|example)|\b(test|it|describe)(\.\w+)*\s*\(|"
    r"^\s*(>>> |Scenario\b)",
    re.IGNORECASE | re.MULTILINE,
)


def run(root: str, proposed: Any, progress: Progress = silent) -> str:
    """Stage a patch.

    Args:
        proposed: parsed JSON, as ``schemas/patch.schema.json`` describes it.
        progress: told how many sources were read.

    Returns:
        The candidate's id. The same patch on the same sources has the same id.

    Raises:
        Refusal: the patch breaks a rule, or was made against another state of the project. Nothing was staged.
        Unusable: ``configuration-invalid``.
    """
    now = state.read(root, progress)
    files = now.sources.files()
    checked = patch.check(root, proposed, files)
    if "provenance" in checked:
        reasons = compatibility_reasons(checked["provenance"], now.provenance)
        if reasons:
            raise Refusal("provenance-changed", f"the patch was made against another state: {', '.join(reasons)}")
    if not any(could_be_test(now.framework, one["path"], one["content"]) for one in checked["files"]):
        raise Refusal("no-changed-test", "no file of the patch is a test by its name or its content")
    if checked["review"]["accepted"] and not _names_independent_oracle(checked["review"]):
        raise Refusal("oracle-missing", "review.oracle is not independent, or its basis is empty")
    review = _review(checked)
    manifest = canonical.seal(
        {
            "schemaVersion": 2,
            "framework": now.framework.NAME,
            "purpose": checked.get("purpose") or ("modularization" if checked["delete"] else "candidate-tests"),
            "provenance": now.provenance.to_dict(),
            "files": [{"path": one["path"], "hash": canonical.digest(one["content"])} for one in checked["files"]],
            "delete": checked["delete"],
            "allowProtectedPaths": checked["allowProtectedPaths"],
            "review": {
                "accepted": checked["review"]["accepted"],
                "independentOracle": _names_independent_oracle(checked["review"]),
                "hash": canonical.digest(review),
            },
            "heldOutDefects": [
                {"name": one["name"], "path": one["path"], "hash": canonical.digest(one["content"])}
                for one in checked["heldOutDefects"]
            ],
            "base": [{"path": path, "hash": files.get(path)} for path in _touched(checked)],
        }
    )
    contents = [one["content"] for one in checked["files"]]
    defects = [one["content"] for one in checked["heldOutDefects"]]
    return candidate.write(root, manifest, review, contents, defects)


def could_be_test(framework: Framework, path: str, content: str) -> bool:
    """Whether a file may be a test: by its name, or because it defines something like one. Its runner knows better."""
    return framework.is_test_file(path) or union.is_test_file(path) or _LIKE_A_TEST.search(content) is not None


def _touched(changes: Mapping[str, Any]) -> list[str]:
    """The files that a patch or a manifest replaces, deletes or breaks, sorted."""
    changed = [one["path"] for key in ("files", "heldOutDefects") for one in changes[key]]
    return sorted({*changed, *changes["delete"]})


def check_base(manifest: Mapping[str, Any], now: ProjectState) -> None:
    """Refuse a candidate whose files are no longer those that it was staged against. What else changed is no matter.

    A manifest of version 1 does not say what they were, so nothing at all may have changed.

    Raises:
        Refusal: ``provenance-changed``.
    """
    if "base" not in manifest:
        changed = compatibility_reasons(manifest["provenance"], now.provenance)
    else:
        today, then = now.sources.files(), {one["path"]: one["hash"] for one in manifest["base"]}
        changed = [path for path in _touched(manifest) if then.get(path) != today.get(path)]
        if manifest["framework"] != now.framework.NAME:
            changed.append(f"the framework is {now.framework.NAME}, not {manifest['framework']}")
    if changed:
        raise Refusal("provenance-changed", f"since it was staged: {', '.join(changed)}")


def _review(checked: dict[str, Any]) -> dict[str, Any]:
    body = {"schemaVersion": 1, "requirements": checked["requirements"], "review": checked["review"]}
    return canonical.seal(body)


def _names_independent_oracle(review: dict[str, Any]) -> bool:
    """Whether the reviewer says that the expectations do not come from the code, and where they do come from."""
    oracle = review.get("oracle", {})
    basis = oracle.get("basis", [])
    texts = [basis] if isinstance(basis, str) else basis
    return bool(oracle.get("independent") and texts and all(text.strip() for text in texts))
