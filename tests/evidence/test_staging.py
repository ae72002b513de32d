"""Staging: what is taken in, what is refused, and that nothing else is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from evidence_helpers import CALC, PYTEST_CANDIDATE, Json, defect, patch, pytest_project, tree, write
from helpers import Project, without_powers
from testlore import evidence, frameworks
from testlore.errors import Refusal
from testlore.project import provenance, settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return pytest_project(tmp_path / "shop", **{"package.json": "{}", "uv.lock": "", ".gitignore": "secret/\n"})


def refusal(root: Path, proposed: Any) -> Refusal:
    """The refusal of a patch, of which nothing was written."""
    before = tree(root)
    with pytest.raises(Refusal) as caught:
        evidence.stage(root, proposed)
    assert tree(root) == before
    return caught.value


def test_staging_writes_nothing_outside_of_the_candidates(root: Path) -> None:
    before = tree(root)
    name = evidence.stage(root, patch(heldOutDefects=[defect()]))
    added = tree(root).keys() - before.keys()
    assert {path.rpartition(f"{name}/")[2] for path in added} == {
        "manifest.json",
        "review.json",
        "files/tests/test_divide.py",
        "defects/0",
    }
    assert all(path.startswith(f".tddswarm/candidates/{name}/") for path in added)
    assert {path: tree(root)[path] for path in before} == before


def test_the_same_patch_on_the_same_sources_is_the_same_candidate(root: Path) -> None:
    first = evidence.stage(root, patch())
    assert evidence.stage(root, patch()) == first
    write(root, {"calc.py": CALC + "\n"})
    assert evidence.stage(root, patch()) != first


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "../outside.py", "tests/../x.py", "./x.py", "tests//x.py", "tests/", "a\\b.py", "a\0b"),
        *(".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", ".git", ".tddswarm/learning/index.json"),
        *("node_modules/x/index.js", "sub/node_modules/x.js", ".venv/bin/python", "venv/x.py", "env/lib/x.py"),
        *("__pycache__/x.py", "link/x.py", "linked.py", "calc.py/x.py", "C:/x.py"),
    ],
)
def test_unsafe_and_foreign_paths_are_refused(root: Path, path: str) -> None:
    write(root, {"env/pyvenv.cfg": "home = /usr\n"})
    (root / "link").symlink_to(root / "tests")
    (root / "linked.py").symlink_to(root / "calc.py")
    refused = refusal(root, patch({path: "x = 1\n"}))
    assert refused.reason == "path-refused"
    assert refused.exit_status == 2
    assert "files[0]" in str(refused)
    assert "allowed: " in str(refused)


@pytest.mark.parametrize(
    "path",
    [
        *("package.json", "uv.lock", "tddswarm.config.json", "pyproject.toml", "sub/package-lock.json", "setup.py"),
        *("requirements-dev.txt", "tddswarm.requirements.md", "pytest.ini"),
    ],
)
def test_protected_paths_are_refused_unless_the_patch_names_them(root: Path, path: str) -> None:
    proposed = patch({path: "{}", "tests/test_divide.py": PYTEST_CANDIDATE})
    refused = refusal(root, proposed)
    assert refused.reason == "path-protected"
    assert path in str(refused)
    assert evidence.stage(root, {**proposed, "allowProtectedPaths": [path]})


def test_a_protected_file_is_not_deleted_unless_the_patch_names_it(root: Path) -> None:
    assert refusal(root, patch(delete=["package.json"])).reason == "path-protected"


def test_a_forbidden_path_stays_forbidden_when_the_patch_names_it(root: Path) -> None:
    proposed = patch({".git/config": ""}, allowProtectedPaths=[".git/config"])
    assert refusal(root, proposed).reason == "path-refused"


@pytest.mark.parametrize(
    ("files", "delete"),
    [
        (["tests/test_a.py", "tests/test_a.py"], []),
        (["tests/test_a.py", "tests/TEST_A.py"], []),
        (["tests/caf\u00e9.py", "tests/cafe\u0301.py"], []),
        (["tests/test_a.py", "tests/test_a.py/b.py"], []),
        (["tests/test_calc.py"], ["tests/test_calc.py"]),
        (["tests/test_a.py"], ["tests/test_calc.py", "tests/test_calc.py"]),
    ],
)
def test_doubles_are_refused(root: Path, files: list[str], delete: list[str]) -> None:
    proposed = {**patch(delete=delete), "files": [{"path": path, "content": ""} for path in files]}
    assert refusal(root, proposed).reason == "patch-invalid"


@pytest.mark.parametrize("path", ["tests/gone.py", "tests", "secret/key.py"])
def test_deletions_of_what_is_no_source_are_refused(root: Path, path: str) -> None:
    write(root, {"secret/key.py": ""})
    refused = refusal(root, patch(delete=[path]))
    assert refused.reason == "patch-invalid"
    assert path in str(refused)


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "gone.py"},
        {"path": "tests/test_divide.py"},
        {"path": "tests/test_calc.py"},
        {"path": "package.json"},
        {"content": CALC},
        {"content": "x" * (512 * 1024 + 1)},
        {"name": " "},
    ],
)
def test_a_held_out_defect_must_replace_a_source_file_that_the_patch_does_not_touch(root: Path, wrong: Json) -> None:
    refused = refusal(root, patch(heldOutDefects=[{**defect(), **wrong}]))
    assert refused.reason == "patch-invalid"
    assert "heldOutDefects[0]" in str(refused)


def test_two_defects_of_one_name_are_refused(root: Path) -> None:
    assert "each name once" in str(refusal(root, patch(heldOutDefects=[defect(), defect(content="x = 1\n")])))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"requirements": "  "}, "requirements"),
        ({"requirements": None}, "requirements"),
        ({"files": []}, "files"),
        ({"files": [{"path": f"tests/test_{n}.py", "content": ""} for n in range(101)]}, "files"),
        ({"files": [{"path": "tests/test_a.py", "content": "x" * (512 * 1024 + 1)}]}, "files[0].content"),
        ({"files": [{"path": "tests/test_a.py", "content": "é" * (300 * 1024)}]}, "files[0].content"),
        ({"files": [{"path": "tests/test_a.py", "content": "\ud800"}]}, "files[0].content"),
        ({"review": {"findings": []}}, "review"),
        ({"reveiw": {}}, "reveiw"),
        ({"heldOutDefects": [defect(name=str(n)) for n in range(101)]}, "heldOutDefects"),
    ],
)
def test_what_the_schema_forbids_is_refused_by_name(root: Path, change: Json, named: str) -> None:
    refused = refusal(root, {**patch(), **change})
    assert refused.reason == "patch-invalid"
    assert named in str(refused)


@pytest.mark.parametrize(
    "files", [{"notes.txt": "nothing"}, {"calc.py": CALC.replace("10", "20")}, {"tests/conftest.py": "x = 1\n"}]
)
def test_a_patch_without_a_test_is_refused(root: Path, files: dict[str, str]) -> None:
    refused = refusal(root, patch(files))
    assert (refused.reason, refused.exit_status) == ("no-changed-test", 2)


@pytest.mark.parametrize("path", ["tests/check_divide.py", "tests/divide_spec.rb", "README.md"])
def test_what_a_runner_may_be_told_to_take_for_a_test_is_staged(root: Path, path: str) -> None:
    content = {"md": ">>> 1 / 1\n1.0\n", "rb": 'describe("x") { it("y") }'}.get(path[-2:], PYTEST_CANDIDATE)
    assert evidence.stage(root, patch({path: content}))


@pytest.mark.parametrize("oracle", [{"independent": False, "basis": ["the code"]}, {"independent": True}, None])
def test_an_accepting_review_without_an_independent_oracle_is_refused(root: Path, oracle: Json | None) -> None:
    review = {"accepted": True, **({"oracle": oracle} if oracle else {})}
    refused = refusal(root, patch(review=review))
    assert (refused.reason, refused.exit_status) == ("oracle-missing", 2)
    assert evidence.stage(root, patch(review={**review, "accepted": False}))


@pytest.mark.parametrize("proposed", [None, [], "patch", 7])
def test_what_is_no_object_is_refused(root: Path, proposed: Any) -> None:
    assert refusal(root, proposed).reason == "patch-invalid"


def test_provenance_that_no_longer_fits_is_refused(root: Path) -> None:
    configured = settings.parse(settings.read(str(root)))
    then = provenance.take(str(root), configured, frameworks.of_project(str(root), configured)).to_dict()
    assert evidence.stage(root, patch(provenance=then))
    write(root, {"calc.py": CALC + "\n"})
    refused = refusal(root, patch(provenance=then))
    assert refused.reason == "provenance-changed"
    assert "source-drift" in str(refused)


@pytest.mark.parametrize(
    "path", ["manifest.json", "review.json", "files/tests/test_divide.py", "defects/0", "files/more.py", "defects/1"]
)
def test_a_later_change_of_a_staged_file_is_noticed(root: Path, path: str) -> None:
    name = evidence.stage(root, patch(heldOutDefects=[defect()]))
    file = root / ".tddswarm/candidates" / name / path
    file.write_bytes((file.read_bytes() if file.exists() else b"") + b" ")
    with pytest.raises(Refusal) as caught:
        evidence.validate(root, name)
    assert caught.value.reason == "candidate-changed"
    assert evidence.candidates(root)[0].state == "unusable"


def test_a_staged_file_that_was_removed_is_noticed_and_staging_again_mends_it(root: Path) -> None:
    name = evidence.stage(root, patch())
    (root / ".tddswarm/candidates" / name / "files/tests/test_divide.py").unlink()
    assert evidence.candidates(root)[0].state == "unusable"
    assert evidence.stage(root, patch()) == name
    assert evidence.candidates(root) == [evidence.CandidateState(name, "staged", [], 1)]


def test_another_manifest_under_a_staged_id_is_noticed_though_its_seal_fits(root: Path) -> None:
    first, other = evidence.stage(root, patch()), evidence.stage(root, patch(purpose="modularization"))
    folder = root / ".tddswarm/candidates"
    (folder / first / "manifest.json").write_bytes((folder / other / "manifest.json").read_bytes())
    with pytest.raises(Refusal, match="candidate-changed"):
        evidence.validate(root, first)


def test_a_linked_candidates_folder_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / ".tddswarm").mkdir()
    (root / ".tddswarm/candidates").symlink_to(tmp_path / "elsewhere")
    assert refusal(root, patch()).reason == "candidate-unsafe"
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "-x", "x" * 129, "unknown"])
def test_an_id_that_no_candidate_has_is_refused(root: Path, name: str) -> None:
    with pytest.raises(Refusal, match="candidate-unknown"):
        evidence.validate(root, name)


def test_a_text_is_taken_for_a_list_of_one_in_the_review(root: Path) -> None:
    review = {"accepted": True, "findings": "none", "oracle": {"independent": True, "basis": "the requirements"}}
    name = evidence.stage(root, patch(review=review))
    manifest = json.loads((root / ".tddswarm/candidates" / name / "manifest.json").read_bytes())
    assert manifest["review"]["independentOracle"] is True


@pytest.mark.parametrize(
    ("path", "told"),
    [("-x_test.py", "no '-' first"), (f"tests/{'a' * 300}_test.py", "is too long for a file's name")],
)
def test_a_path_that_no_runner_or_file_system_takes_is_refused(tmp_path: Path, path: str, told: str) -> None:
    root = pytest_project(tmp_path)
    with pytest.raises(Refusal, match=f"path-refused: .*{told}"):
        evidence.stage(str(root), patch({path: "def test_one(): pass\n"}))


def test_a_path_in_a_folder_that_may_not_be_entered_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "patch.json").write_text(json.dumps(patch({"tests/test_one.py": "def test_one(): pass\n"})))
    (root / "tests").chmod(0)
    try:
        done = Project(root, before=without_powers).testlore("stage", str(tmp_path / "patch.json"))
    finally:
        (root / "tests").chmod(0o755)
    assert done.returncode == 2
    assert done.stderr.startswith("testlore: path-refused: files[0]: Permission denied; allowed: ")
