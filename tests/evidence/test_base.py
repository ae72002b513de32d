"""A candidate is validated while the files that it touches are those that it was staged against; others may change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from evidence_helpers import CALC, PYTEST_CANDIDATE, PYTEST_ORIGINAL, Json, defect, patch, pytest_project, write
from testlore import canonical, evidence
from testlore.errors import Refusal
from testlore.evidence import candidate, staging, state

#: Replaces one file, adds one, deletes one and breaks one.
PROPOSED = patch(
    {"tests/test_calc.py": PYTEST_ORIGINAL + "\n\n" + PYTEST_CANDIDATE, "tests/test_new.py": "def test_new(): pass\n"},
    delete=["old.py"],
    heldOutDefects=[defect()],
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return pytest_project(tmp_path / "shop", **{"old.py": "", "other.py": ""})


def check(root: Path, manifest: Json) -> str:
    """Why a manifest no longer fits the project, or nothing."""
    try:
        staging.check_base(manifest, state.read(str(root)))
    except Refusal as refused:
        return refused.detail if refused.reason == "provenance-changed" else str(refused)
    return ""


def staged(root: Path) -> Json:
    return candidate.read(str(root), evidence.stage(root, PROPOSED)).manifest


@pytest.mark.parametrize("path", ["tests/test_calc.py", "tests/test_new.py", "old.py", "calc.py"])
@pytest.mark.parametrize("text", ["# changed\n", None])
def test_a_file_that_the_candidate_touches_must_be_as_it_was(root: Path, path: str, text: str | None) -> None:
    manifest = staged(root)
    assert check(root, manifest) == ""
    if text is None:
        (root / path).unlink(missing_ok=True)
    else:
        write(root, {path: text})
    is_the_same = text is None and path == "tests/test_new.py"
    assert check(root, manifest) == ("" if is_the_same else f"since it was staged: {path}")


def test_every_file_that_changed_is_named(root: Path) -> None:
    manifest = staged(root)
    write(root, {"calc.py": "", "tests/test_calc.py": ""})
    assert check(root, manifest) == "since it was staged: calc.py, tests/test_calc.py"


def test_what_it_does_not_touch_may_change(root: Path) -> None:
    manifest = staged(root)
    write(root, {"other.py": "x = 1\n", "more.py": "", "uv.lock": "", "tests/test_more.py": ""})
    write(root, {"tddswarm.config.json": '{"adapter": "pytest", "services": {"db": "16"}}'})
    assert check(root, manifest) == ""


def test_the_framework_must_be_the_same(root: Path) -> None:
    manifest = staged(root)
    write(root, {"tddswarm.config.json": '{"adapter": "unittest"}'})
    assert check(root, manifest) == "since it was staged: the framework is unittest, not pytest"


def test_a_manifest_of_version_1_fits_only_the_very_same_project(root: Path) -> None:
    manifest = {key: value for key, value in staged(root).items() if key not in ("base", "integrity")}
    old = canonical.seal({**manifest, "schemaVersion": 1})
    review: Json = json.loads((root / candidate.FOLDER / evidence.stage(root, PROPOSED) / "review.json").read_text())
    files = [one["content"] for one in PROPOSED["files"]]
    name = candidate.write(str(root), old, review, files, [PROPOSED["heldOutDefects"][0]["content"]])
    assert check(root, candidate.read(str(root), name).manifest) == ""
    write(root, {"other.py": "x = 1\n"})
    assert check(root, old) == "since it was staged: source-drift"


def test_the_episode_tells_the_state_in_which_it_was_validated(root: Path) -> None:
    proposed = patch(heldOutDefects=[defect()])
    name = evidence.stage(root, proposed)
    write(root, {"other.py": "x = 1\n"})
    ended = evidence.validate(root, name)
    assert (ended.outcome, ended.not_remembered) == ("accepted", "")
    record = evidence.remember(root, name).record
    assert record["provenance"] == state.read(str(root)).provenance.to_dict()
    assert record["provenance"] != candidate.read(str(root), name).manifest["provenance"]
    write(root, {"other.py": "x = 2\n"})
    assert not evidence.remember(root, name).new
    write(root, {"calc.py": CALC + "\n"})
    with pytest.raises(Refusal, match=r"provenance-changed: since it was staged: calc\.py"):
        evidence.remember(root, name)
