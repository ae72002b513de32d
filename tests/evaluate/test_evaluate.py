"""Recall measured on a git history that is small enough to compute by hand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import REPOSITORY, Project, with_files_up_to
from testlore import canonical
from testlore.errors import Unusable
from testlore.evaluate import Figures, disposable, inherited, measure, questions
from testlore.memory import store
from testlore.project.settings import Settings
from wheel_stand_in import WheelStandIn

# By hand, newest commit first. Of the inherited formulas the last case has no rank, since its test is one word to
# them; of ours the words of an identifier count, so that it is first. The test of the first case holds one of its
# words, and that of the third holds two of them: it is second everywhere.
PYTHON = {
    "Show half cents, closes #7": "def test_display():\n    display(cents, with_a_currency, and_a_sign, and_a_width)\n",
    "Keep order when splitting": "def test_split():\n    # keep order\n    assert order\n",
    "Round half cents upward": "def test_up():\n    cents = round(half)\n",
    "Reject negative amounts (#12)": "def test_reject_negative_amounts():\n    assert refuse(-1)\n",
}
JAVASCRIPT = {
    "Show half cents, closes #7": "it('d', () => {\n  display(cents, with_a_currency, and_a_sign, and_a_width);\n});\n",
    "Keep order when splitting": "it('s', () => {\n  // keep order\n  assert(order);\n});\n",
    "Round half cents upward": "test('u', () => {\n  const cents = round(half);\n});\n",
    "Reject negative amounts (#12)": "describe('x', () => {\n  it('y', () => rejectNegativeAmounts(-1));\n});\n",
}
INHERITED_MRR = (1 / 2 + 1 + 1 + 0) / 4
OURS_MRR = (1 / 2 + 1 + 1 + 1) / 4

REMOTE_CONTROL = """
[core]
    fsmonitor = touch {0}
    pager = touch {0}
    hooksPath = {1}
    sshCommand = touch {0}
[pager]
    log = touch {0}
[diff]
    external = touch {0}
[diff "x"]
    textconv = touch {0};
    command = touch {0}
[filter "x"]
    smudge = touch {0}
    clean = touch {0}
[log]
    showSignature = true
[gpg]
    program = {1}/post-commit
[remote "origin"]
    url = ext::touch {0}
    promisor = true
"""


class History:
    """A git repository in the making, of which each commit is a minute after the one before.

    Args:
        root: its folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._minutes = 0
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *argv: str) -> str:
        at = f"2026-01-01T00:{self._minutes:02}:00Z"
        author = {"NAME": "a", "EMAIL": "a@example.org", "DATE": at}
        who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in author.items()}
        env = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(["git", *argv], cwd=self.root, env=env, check=True, capture_output=True, text=True).stdout

    def commit(self, subject: str, path: str, content: str) -> str:
        self._minutes += 1
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        return self.git("rev-parse", "HEAD").strip()


def filled(root: Path, tests: dict[str, str], name: str) -> History:
    """A history of these tests, among commits that ask nothing."""
    history = History(root)
    history.commit("Begin with a readme", "README.md", "def test_nothing(): pass\n")
    for number, (subject, content) in enumerate(reversed(tests.items())):
        history.commit(subject, name.format(number), content)
        history.commit("Explain the module in words", f"docs/{number}.md", "words\n")
    for number, subject in enumerate(
        ("Bump version to 2.0 now", "Release of the month", 'Revert "Keep order when splitting"', "Fix it", "3.1.4")
    ):
        history.commit(subject, name.format(f"no{number}"), next(iter(tests.values())))
    history.commit("Add a helper for tests", name.format("helper"), "total = 1\n")
    history.commit("Test what is no test file", "src/tool.py", PYTHON["Keep order when splitting"])
    history.git("checkout", "-q", "-b", "side", "HEAD~2")
    history.commit("Describe the side branch", "side.md", "words\n")
    history.git("checkout", "-q", "main")
    history.git("merge", "-q", "--no-ff", "-m", "Keep half cents of both sides", "side")
    return history


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("py") / "shop", PYTHON, "tests/test_{}.py").root


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("js") / "shop", JAVASCRIPT, "lib/{}.spec.ts").root


@pytest.fixture
def asking(tmp_path: Path) -> Project:
    """A project whose configuration says what is measured."""
    project = Project(tmp_path / "asking")
    project.root.mkdir()
    project.configure()
    return project


def evaluated(project: Project, *argv: str) -> dict[str, Any]:
    done = project.testlore("evaluate", *argv, "--json")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def figures(report: dict[str, Any], start: str) -> dict[str, Any]:
    [found] = [one for one in report["figures"] if one["name"].startswith(start)]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_the_figures_are_those_that_were_computed_by_hand(
    asking: Project, language: str, request: pytest.FixtureRequest
) -> None:
    repository: Path = request.getfixturevalue(language)
    report = evaluated(asking, "--repo", str(repository))
    assert report["repository"] == "shop"
    assert report["cases"] == 4
    assert report["dimensions"] == 128
    for name, mrr, first in (
        ("shared words", INHERITED_MRR, 0.5),
        ("hashed words", INHERITED_MRR, 0.5),
        ("lexical", OURS_MRR, 0.75),
        ("native, 128 dimensions", OURS_MRR, 0.75),
    ):
        found = figures(report, name)
        assert found["mrrAt10"] == mrr
        assert found["recallAt"]["1"] == first
        assert found["recallAt"]["5"] == found["recallAt"]["20"] == first + 0.25
        assert "reason" not in found


@pytest.mark.parametrize(("language", "expected"), [("python", "python"), ("javascript", "typescript")])
def test_cases_are_the_commits_that_added_tests(language: str, expected: str, request: pytest.FixtureRequest) -> None:
    repository: Path = request.getfixturevalue(language)
    found = questions.read(str(repository))
    tests = PYTHON if language == "python" else JAVASCRIPT
    assert [case.query for case in found] == [
        "Show half cents",
        "Keep order when splitting",
        "Round half cents upward",
        "Reject negative amounts",
    ]
    assert [case.tests for case in found] == [content.rstrip("\n") for content in tests.values()]
    assert {case.language for case in found} == {expected}
    assert [case.time for case in found] == sorted((case.time for case in found), reverse=True)


def test_a_table_for_people_and_progress_beside_it(asking: Project, python: Path) -> None:
    done = asking.testlore("evaluate", "--repo", str(python))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["MRR@10", "recall@1", "recall@5", "recall@20"]
    assert lines[4].split() == ["lexical", "0.875", "0.750", "1.000", "1.000"]
    assert lines[-1].startswith("4 cases of shop at ")
    assert done.stderr.splitlines()[-1] == "8/8"


def test_doit_measures_too(asking: Project, python: Path) -> None:
    dodo = str(REPOSITORY / "dodo.py")
    argv = ("-m", "doit", "run", "-f", dodo, "evaluate", f"repo={python}", f"root={asking.root}", "format=json")
    done = asking.python(*argv)
    assert done.returncode == 0, done.stderr
    assert figures(json.loads(done.stdout), "native")["mrrAt10"] == OURS_MRR
    assert not (asking.root / store.INDEX_FILE).exists()


def test_a_host_does_not_get_the_task_by_a_star() -> None:
    from testlore import tasks

    assert "task_evaluate" not in tasks.__all__


def test_a_configured_model_is_measured_in_its_turn(asking: Project, python: Path) -> None:
    (asking.root / "embed.py").write_text(
        "import json, sys\n"
        "texts = json.load(sys.stdin)['texts']\n"
        "row = lambda text: [1.0] + [float(ord(text[0]) % 7 == place) for place in range(15)]\n"
        "print(json.dumps({'schemaVersion': 1, 'vectors': [row(text) for text in texts]}))\n"
    )
    command = {"mode": "command", "argv": [sys.executable, "embed.py"], "identity": "toy"}
    asking.configure({"dimensions": 16, "embedding": command})
    report = evaluated(asking, "--repo", str(python))
    assert figures(report, "native, 16 dimensions")["mrrAt10"] is not None
    assert 0 < figures(report, "external-embedding (toy)")["mrrAt10"] <= 1


def test_an_engine_that_cannot_answer_is_named_and_the_rest_is_measured(
    asking: Project, python: Path, sdk: WheelStandIn
) -> None:
    sdk.break_with("raise ImportError('undefined symbol')")
    report = evaluated(asking.with_env(**sdk.env), "--repo", str(python))
    assert figures(report, "native")["mrrAt10"] is None
    assert figures(report, "native")["reason"].startswith("ruvector-native-load-failed")
    assert figures(report, "lexical")["mrrAt10"] == OURS_MRR


@pytest.fixture
def hostile(tmp_path: Path, python: Path) -> Iterator[Path]:
    """A repository that would run a program at every chance that git gives it."""
    marker, hooks = tmp_path / "ran", tmp_path / "hooks"
    repository = tmp_path / "hostile"
    subprocess.run(["git", "clone", "-q", str(python), str(repository)], check=True)
    hooks.mkdir()
    for name in ("post-commit", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (hooks / name).chmod(0o755)
    with (repository / ".git" / "config").open("a") as config:
        config.write(REMOTE_CONTROL.format(marker, hooks))
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "attributes").write_text("* diff=x filter=x\n")
    command = {"mode": "command", "argv": ["touch", str(marker)], "identity": "x"}
    plugins = {"ruvector": {"enabled": True, "embedding": command}}
    (repository / "tddswarm.config.json").write_text(json.dumps({"plugins": plugins}))
    (repository / "conftest.py").write_text(f"open({str(marker)!r}, 'w')\n")
    (repository / "dodo.py").write_text(f"open({str(marker)!r}, 'w')\n")
    yield repository
    assert not marker.exists()


def test_nothing_of_the_repository_is_run(asking: Project, hostile: Path) -> None:
    assert evaluated(asking, "--repo", str(hostile))["cases"] == 4


def test_the_repository_is_left_as_it_was(asking: Project, python: Path) -> None:
    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in python.rglob("*") if path.is_file()}

    before = everything()
    evaluated(asking, "--repo", str(python))
    assert everything() == before


@pytest.mark.parametrize("size", [0, 2_000, 8_000], ids=["nothing", "part of the memory", "the memory, no index"])
def test_a_full_disk_is_one_clear_word(asking: Project, python: Path, tmp_path: Path, size: int) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    env = {"TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}  # Python would keep half of a module's code
    full = asking.with_env(**env).confined(with_files_up_to(size))
    done = full.testlore("evaluate", "--repo", str(python))
    assert (done.returncode, done.stdout) == (1, "")
    *_, what, way_out = done.stderr.splitlines()
    least = sum(len(tests) for tests in PYTHON.values()) + 4 * 4 * 128
    start, _, needed = what.rpartition(" need more than ")
    assert start == f"testlore: no-room: {temporary} is full: a memory of 4 answers and its index"
    assert 2_000 < int(needed.removesuffix(" bytes")) <= least
    assert "TMPDIR" in way_out
    assert list(temporary.iterdir()) == []


def test_a_bare_repository_will_do(asking: Project, python: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "-q", "--bare", str(python), str(tmp_path / "bare.git")], check=True)
    assert evaluated(asking, "--repo", str(tmp_path / "bare.git"))["cases"] == 4


def test_a_history_without_tests_has_no_figures(asking: Project, tmp_path: Path) -> None:
    History(tmp_path / "plain").commit("Begin with a readme", "README.md", "words\n")
    report = evaluated(asking, "--repo", str(tmp_path / "plain"))
    assert report["cases"] == 0
    assert {one["mrrAt10"] for one in report["figures"]} == {None}
    assert asking.testlore("evaluate", "--repo", str(tmp_path / "plain")).returncode == 0


@pytest.mark.parametrize("what", ["no folder", "no repository", "no commit"])
def test_what_has_no_history_is_refused(asking: Project, tmp_path: Path, what: str) -> None:
    path = tmp_path / "elsewhere"
    if what != "no folder":
        path.mkdir()
    if what == "no commit":
        subprocess.run(["git", "init", "-q", str(path)], check=True)
    done = asking.testlore(
        "evaluate", "--repo", str(path), env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    )
    assert done.returncode == 2
    assert "call-invalid" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_recall_at_k_is_drawn(asking: Project, python: Path, tmp_path: Path, ending: str) -> None:
    chart = tmp_path / f"chart.{ending}"
    evaluated(asking, "--repo", str(python), "--chart", str(chart))
    head = chart.read_bytes()[:400]
    assert head.startswith(b"\x89PNG") if ending == "png" else b"<svg" in chart.read_bytes()


def test_a_chart_of_another_kind_is_refused_before_anything_is_measured(asking: Project, python: Path) -> None:
    done = asking.testlore("evaluate", "--repo", str(python), "--chart", "chart.txt")
    assert done.returncode == 2
    assert "chart is 'chart.txt'" in done.stderr


@pytest.mark.parametrize(
    ("subject", "query"),
    [
        ("Round half cents upward (#12)", "Round half cents upward"),
        ("Fixes #12: round half cents", "round half cents"),
        ("Round half cents, closes GH-3", "Round half cents"),
        ("Round half cents (owner/name#3)", "Round half cents"),
        ("feat(money): round half cents", "feat(money): round half cents"),
        ("Fix rounding of cents", "Fix rounding of cents"),
        ("Fix rounding", ""),
        ("Bump cents from 1 to 2", ""),
        ("build(deps): bump cents from 1 to 2", ""),
        ("Release version 1.2 of cents", ""),
        ("1.2.0 is here now", ""),
        ("Revert rounding of half cents", ""),
        ("Merge branch of half cents", ""),
        ("Réduire les centimes à zéro", "Réduire les centimes à zéro"),
    ],
)
def test_a_subject_becomes_a_query(subject: str, query: str) -> None:
    assert questions.clean(subject) == query


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("tests/test_a.py", "python"),
        ("src/pkg/test_a.py", "python"),
        ("src/a_test.py", "python"),
        ("src/a.py", ""),
        ("src/contest.py", ""),
        ("test/a.js", "javascript"),
        ("src/a.test.mjs", "javascript"),
        ("src/__tests__/a.tsx", "typescript"),
        ("src/a.spec.ts", "typescript"),
        ("tests/data.json", ""),
    ],
)
def test_test_files_are_known_by_folder_or_name(path: str, language: str) -> None:
    assert questions.test_language(path) == language


def test_lines_that_look_like_headers_of_a_diff_are_content(tmp_path: Path) -> None:
    content = "def test_headers():\n++ b/tests/x.py\n@@ -1 +1 @@\n-- a/tests/x.py\n"
    history = History(tmp_path / "odd")
    history.commit("Keep headers of diffs apart", "tests/test_odd.py", content)
    history.commit("Remove headers of diffs again", "tests/test_odd.py", "def test_other(): pass\n")
    assert [one.tests for one in questions.read(str(history.root))] == [
        "def test_other(): pass",
        content.rstrip("\n"),
    ]


def test_at_most_six_hunks_and_1200_characters_of_a_commit_count(tmp_path: Path) -> None:
    history = History(tmp_path / "large")
    gaps = [f"# {number}" for number in range(8)]
    history.commit("Begin with some comments", "tests/test_a.py", "\n".join(gaps) + "\n")
    grown = [line for number, gap in enumerate(gaps) for line in (gap, f"def test_{number}(): pass")]
    history.commit("Add a test below each", "tests/test_a.py", "\n".join(grown) + "\n")
    history.commit("Add a very long test", "tests/test_b.py", "def test_long():\n" + "    call()\n" * 500)
    long, six = questions.read(str(history.root))
    assert six.tests.splitlines() == [f"def test_{number}(): pass" for number in range(6)]
    assert len(long.tests) == questions.MOST_CHARACTERS


def test_a_test_of_characters_beyond_the_basic_plane_is_cut_to_what_a_store_takes(tmp_path: Path) -> None:
    history = History(tmp_path / "astral")
    history.commit("Wave to a snake thrice", "tests/test_a.py", "def test_wave():\n" + "    wave('🐍👋')\n" * 200)
    found = questions.read(str(history.root))
    assert canonical.utf16_length(found[0].tests) == questions.MOST_CHARACTERS
    disposable.write(str(tmp_path), found, Settings(), "feature-vectors")
    store.parse((tmp_path / store.INDEX_FILE).read_bytes())


@pytest.mark.parametrize("time", [-1, 0, 2**60])
def test_a_commit_may_claim_any_time(tmp_path: Path, time: int) -> None:
    history = History(tmp_path / "times")
    history.commit("Wave to a snake thrice", "tests/test_a.py", "def test_wave(): pass\n")
    raw = history.git("cat-file", "commit", "HEAD")
    moved = re.sub(r"(?m)^(committer .*>) \d+", rf"\1 {time}", raw)
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"],
        cwd=history.root,
        input=moved.encode(),
        capture_output=True,
        check=True,
    )
    history.git("update-ref", "refs/heads/main", made.stdout.decode().strip())
    found = questions.read(str(history.root))
    disposable.write(str(tmp_path), found, Settings(), "feature-vectors")
    assert len(store.parse((tmp_path / store.INDEX_FILE).read_bytes()).records) == 1


def test_no_more_than_200_questions_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: Path) -> None:
    monkeypatch.setattr(questions, "MOST_QUESTIONS", 2)
    assert [one.query for one in questions.read(str(python))] == ["Show half cents", "Keep order when splitting"]


def test_the_disposable_store_is_one_that_recall_trusts(tmp_path: Path, python: Path) -> None:
    found = questions.read(str(python))
    ids = disposable.write(str(tmp_path), found, Settings(), "feature-vectors")
    read = store.parse((tmp_path / store.INDEX_FILE).read_bytes())
    assert [record["id"] for record in read.records] == ids


def test_mean_reciprocal_rank_and_recall_by_hand() -> None:
    found = Figures("x", [1, 4, 0, 11])
    assert found.mrr() == (1 + 1 / 4) / 4
    assert [found.recall_at(k) for k in (1, 5, 20)] == [0.25, 0.5, 0.75]
    assert Figures("x", []).mrr() is None


def test_the_inherited_formulas_know_whole_words_alone() -> None:
    texts = ["test_zero_boundary", "zero boundary zero", "leap"]
    assert inherited.shared_words("the zero boundary", texts) == [0, 2, 0]
    assert inherited.hashed_words("zero boundary", texts)[1] == pytest.approx(3 / 10**0.5)


def test_a_configuration_that_is_wrong_is_refused(asking: Project, python: Path) -> None:
    asking.configure({"dimensions": 1})
    with pytest.raises(Unusable, match="configuration-invalid"):
        measure(str(python), str(asking.root))
