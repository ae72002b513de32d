"""Generation with a scripted worker: real processes, real staging and validation, and no model behind it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agents_helpers import GOOD, Crew, kept, shop, tree, write
from episodes import make_episode
from helpers import Project, is_alive, wait_until
from testlore import agents, canonical, evidence, schemas
from testlore.agents import generation
from testlore.agents.worker import Transcript, Workers
from testlore.errors import Refusal

MARKER = "marker_that_only_memory_knows"


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    return Crew(tmp_path / "crew")


@pytest.fixture
def project(tmp_path: Path, crew: Crew) -> Project:
    return shop(tmp_path / "shop", crew)


def remember_marker(project: Project) -> None:
    text = f"def test_division_by_zero_is_clamped():\n    assert {MARKER}"
    project.write_store([make_episode(1, text, framework="pytest")])


def refusal(project: Project) -> Refusal:
    with pytest.raises(Refusal) as caught:
        agents.generate(project.root)
    return caught.value


def test_from_requirements_to_a_remembered_candidate(project: Project, crew: Crew) -> None:
    before = tree(project.root)
    done = project.testlore("generate", "--validate", "--json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["tasks"][0]["files"] == ["tests/test_divide.py"]
    assert made["validation"]["outcome"] == "accepted"
    assert made["learning"]["reason"].startswith("no-memory")
    assert [record["id"] for record in project.records()] == [made["validation"]["record"]]
    assert tree(project.root) == before
    assert [one.id for one in evidence.candidates(project.root)] == [made["id"]]
    assert not (project.root / ".tddswarm/generation").exists()
    assert "author 1 of 1: calc.py" in done.stderr


def test_every_request_is_as_its_schema_says(project: Project, crew: Crew) -> None:
    remember_marker(project)
    agents.generate(project.root)
    for role in ("architect", "author", "reviewer"):
        [request] = crew.requests(role)
        assert schemas.first_problem("agent-request", request) is None
        assert [one["file"] for one in request["context"]] == ["calc.py", "tests/test_calc.py"]
        assert "Division by zero" in request["requirements"]
        if role != "reviewer":
            assert schemas.first_problem("answer", request["learning"]) is None
    [review] = crew.requests("reviewer")
    assert review["files"] == [{"path": "tests/test_divide.py", "content": GOOD}]


def test_memory_reaches_the_architect_and_the_authors_and_never_the_reviewer(project: Project, crew: Crew) -> None:
    remember_marker(project)
    made = agents.generate(project.root)
    for role in ("architect", "author"):
        assert all(MARKER in json.dumps(request["learning"]) for request in crew.requests(role))
    [review] = crew.requests("reviewer")
    assert MARKER not in json.dumps(review)
    assert "learning" not in review
    staged = project.root / ".tddswarm/candidates" / made.id
    assert not any(MARKER.encode() in path.read_bytes() for path in staged.rglob("*") if path.is_file())


def test_a_schema_lets_no_memory_into_a_reviewers_request(project: Project, crew: Crew) -> None:
    agents.generate(project.root)
    [review] = crew.requests("reviewer")
    assert schemas.first_problem("agent-request", {**review, "learning": {}}) is not None


def _full(project: Project) -> None:
    project.write_store([make_episode(number, f"zero division {number}", framework="pytest") for number in range(40)])


def _corrupt(project: Project) -> None:
    write(project.store, "{}")


def _disabled(project: Project) -> None:
    _full(project)
    config = project.root / "tddswarm.config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "learning": {"enabled": False}}))


@pytest.mark.parametrize("content", [GOOD, "def test_red():\n    assert False\n"], ids=["accepted", "rejected"])
def test_the_same_candidates_get_the_same_verdict_whatever_the_memory_holds(
    tmp_path: Path, crew: Crew, content: str
) -> None:
    crew.behave(f"if role == 'author': answer['files'][0]['content'] = {content!r}")
    states: dict[str, Callable[[Project], None]] = {
        "full": _full,
        "empty": lambda project: None,
        "corrupt": _corrupt,
        "disabled": _disabled,
    }
    verdicts = []
    for name, remember in states.items():
        project = shop(tmp_path / name, crew)
        remember(project)
        done = project.testlore("generate", "--validate", "--json")
        made = json.loads(done.stdout)
        assert done.returncode == (1 if name == "corrupt" else made["validation"]["outcome"] == "rejected"), done.stderr
        assert made.get("reason", "").startswith("store-corrupt" if name == "corrupt" else "")
        validation = json.loads((project.root / f".tddswarm/candidates/{made['id']}/validation.json").read_text())
        verdicts.append({key: validation[key] for key in ("outcome", "reasons", "warnings", "evidence", "observed")})
    assert all(verdict == verdicts[0] for verdict in verdicts)
    assert (verdicts[0]["outcome"] == "accepted") == (content == GOOD)


def test_a_memory_that_cannot_be_read_stops_nothing_and_is_told(project: Project, crew: Crew) -> None:
    _corrupt(project)
    assert agents.generate(project.root).id
    assert crew.requests("architect")[0]["learning"]["reason"].startswith("store-corrupt")
    assert project.store.read_text() == "{}"


def test_a_recall_that_breaks_stops_nothing() -> None:
    learning = generation.recall_about("/", "\ud800" * 9, limit=-1, max_chars=6_000)
    assert learning["reason"].startswith("call-invalid")
    broken: Any = None
    learning = generation.recall_about(broken, "zero", limit=5, max_chars=6_000)
    assert learning["records"] == []


def test_a_query_holds_something_of_each_text_and_is_never_too_long() -> None:
    assert generation.query_of("a", "b") == "a\nb"
    query = generation.query_of("subject", "i" * 20_000, "🚀" * 20_000)
    assert canonical.utf16_length(query) <= 4_096
    subject, instructions, requirements = query.split("\n")
    assert subject == "subject"
    assert len(instructions) > 2_000
    assert len(requirements) > 1_000


def test_without_an_agent_the_work_order_is_printed_with_what_to_configure(tmp_path: Path) -> None:
    project = shop(tmp_path / "shop", None)
    done = project.testlore("generate")
    assert done.returncode == 2
    order = json.loads(done.stdout)
    assert schemas.first_problem("agent-request", order) is None
    assert order["role"] == "architect"
    assert "agent in tddswarm.config.json is missing; allowed: " in done.stderr
    answer = json.loads(project.testlore("generate", "--json").stdout)
    assert answer["workOrder"] == order
    assert answer["reason"].startswith("agent-missing: ")
    assert agents.work_order(project.root) == order


@pytest.mark.parametrize("content", [None, b" \n", b"\xff\xfe", b"x" * (256 * 1024 + 1)])
def test_requirements_are_needed(project: Project, crew: Crew, content: bytes | None) -> None:
    path = project.root / "tddswarm.requirements.md"
    path.unlink() if content is None else path.write_bytes(content)
    refused = refusal(project)
    assert (refused.reason, refused.exit_status) == ("requirements-missing", 2)
    assert "tddswarm.requirements.md" in str(refused)
    assert not crew.requests("architect")


def test_a_project_without_code_has_nothing_to_show(project: Project) -> None:
    for path in ("calc.py", "tests/test_calc.py"):
        (project.root / path).unlink()
    assert refusal(project).reason == "context-missing"


@pytest.mark.parametrize(
    ("role", "behaviour", "told"),
    [
        ("architect", "answer = {}", "architect: the document lacks the key 'tasks'"),
        ("architect", "answer = []", "architect: the document is []; allowed: an object of tasks"),
        ("architect", "answer['tasks'] = []", "architect: tasks is []; allowed: a list of 1 to 12 tasks"),
        ("architect", "answer['tasks'] *= 13", "allowed: a list of 1 to 12 tasks"),
        ("architect", "answer['note'] = 'x'", "architect: the document has the unknown key 'note'"),
        ("architect", "answer['tasks'][0]['subject'] = 7", "architect: tasks[0].subject is 7; allowed: a file of"),
        ("architect", "answer['tasks'][0]['subject'] = 'README.md'", "subject is 'README.md'; allowed: a file"),
        ("architect", "answer['tasks'][0]['instructions'] = 'x' * 20001", "tasks[0].instructions is "),
        ("architect", "print('Sure!')", "architect: its answer is not JSON: "),
        ("author", "answer = {}", "author 1: the document lacks the key 'files'"),
        ("author", "answer['files'] = []", "author: files of all authors are 0; allowed: 1 to 50 in all"),
        ("author", "answer['files'] *= 51", "author 1: files is "),
        ("author", "answer['files'][0]['content'] = 'x' * 131073", "author 1: files[0].content is "),
        ("author", "answer['files'][0]['content'] = 'é' * 70000", "files[0].content is 140000 bytes long; allowed"),
        ("author", "answer['files'][0]['content'] = '\\ud800'", "author 1: files[0].content has lone surrogates"),
        ("author", "answer['files'][0]['path'] = '../test_x.py'", "author 1: files[0].path: '../test_x.py' has an"),
        ("author", "answer['files'][0]['path'] = '/tmp/test_x.py'", "author 1: files[0].path: '/tmp/test_x.py' is"),
        ("author", "answer['files'][0]['path'] = '.git/test_x.py'", "author 1: files[0].path is '.git/test_x.py'"),
        ("author", "answer['files'][0]['path'] = 'calc.py'", "author 1: files[0].path is 'calc.py'; allowed: the path"),
        ("author", "answer['files'] *= 2", "author 1: files[1].path: 'tests/test_divide.py' and"),
        ("reviewer", "del answer['accepted']", "reviewer: the document lacks the key 'accepted'"),
        ("reviewer", "answer['accepted'] = 'yes'", 'reviewer: accepted is "yes"; allowed: true or false'),
        ("reviewer", "answer['findings'] = [1]", "reviewer: findings[0] is 1; allowed: a text of"),
        ("reviewer", "answer['oracle'] = {'basis': []}", "reviewer: oracle lacks the key 'independent'"),
    ],
)  # fmt: skip
def test_a_wrong_answer_names_the_role_the_field_and_the_rule(
    project: Project, crew: Crew, role: str, behaviour: str, told: str
) -> None:
    crew.behave(f"if role == {role!r}: {behaviour}")
    refused = refusal(project)
    assert (refused.reason, refused.exit_status) == ("worker-answer-invalid", 1)
    assert told in str(refused)
    assert ".tddswarm/generation/" in str(refused)
    earlier = {"architect": [], "author": ["architect"], "reviewer": ["architect", "author-1"]}[role]
    assert set(kept(project.root)) >= {f"{name}.stdout" for name in earlier}
    assert evidence.candidates(project.root) == []


def test_two_authors_may_not_propose_one_path(project: Project, crew: Crew) -> None:
    crew.behave("if role == 'architect': answer['tasks'] *= 2")
    assert "author 2: files[0].path: 'tests/test_divide.py' and 'tests/test_divide.py' are one path" in str(
        refusal(project)
    )


def test_fifty_files_are_the_most_of_all_authors(project: Project, crew: Crew) -> None:
    crew.behave(
        "if role == 'architect': answer['tasks'] = [{'subject': 'calc.py', 'instructions': str(n)} for n in (1, 2)]\n"
        "if role == 'author':\n"
        "    names = [f'tests/test_{task[\"instructions\"]}_{n}.py' for n in range(26)]\n"
        "    answer['files'] = [{'path': name, 'content': ''} for name in names]\n"
    )
    assert "author 2: files of all authors are 52; allowed: at most 50 in all" in str(refusal(project))


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        ("sys.stderr.write('no more credit'); sys.exit(3)", "architect: exit status 3; its last words: no more credit"),
        ("os.kill(os.getpid(), 9)", "architect: signal 9"),
        ("print('x' * (2 << 20))", "architect: its answer is too long; allowed: at most 2097152 bytes"),
    ],
)
def test_a_worker_that_fails_is_named_with_how(project: Project, crew: Crew, behaviour: str, told: str) -> None:
    crew.behave(behaviour)
    refused = refusal(project)
    assert refused.reason == "worker-failed"
    assert told in str(refused)


def test_a_worker_that_takes_too_long_is_ended_with_its_children(project: Project, crew: Crew) -> None:
    crew.behave(
        "pid = os.fork()\nwith open(here / 'pids', 'a') as file: file.write(f'{os.getpid()}\\n')\ntime.sleep(60)\n"
    )
    workers = Workers(str(project.root), tuple(crew.argv), Transcript(str(project.root)), seconds=2)
    with pytest.raises(Refusal, match="worker-failed: architect: no answer within 2 seconds"):
        workers.ask("architect", agents.work_order(project.root))
    pids = [int(line) for line in (crew.folder / "pids").read_text().split()]
    assert len(pids) == 2
    assert wait_until(lambda: not any(map(is_alive, pids)))


def test_a_person_who_interrupts_waits_for_no_worker(project: Project, crew: Crew) -> None:
    crew.behave("if role == 'author': time.sleep(60)")
    script = (
        "import os, pathlib, signal, threading, time\n"
        "from testlore import agents\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell starts in the background\n"
        "def interrupt():\n"
        f"    while not list(pathlib.Path({str(crew.folder)!r}).glob('author-*')): time.sleep(0.05)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt, daemon=True).start()\n"
        f"agents.generate({str(project.root)!r})\n"
    )
    begin = time.monotonic()
    done = project.python("-c", script)
    assert "KeyboardInterrupt" in done.stderr
    assert time.monotonic() - begin < 30
    assert "architect.stdout" in kept(project.root)


def test_an_agent_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    project = shop(tmp_path / "shop", None, agent=["no-such-agent", "--quiet"])
    refused = refusal(project)
    assert (refused.reason, refused.exit_status) == ("agent-missing", 2)
    assert "agent[0] in tddswarm.config.json is 'no-such-agent'" in str(refused)


def test_no_shell_sees_the_agents_arguments(tmp_path: Path, crew: Crew) -> None:
    project = shop(tmp_path / "shop", None, agent=[*crew.argv, "$(touch hacked); touch hacked", "*"])
    assert agents.generate(project.root).id
    assert not list(tmp_path.rglob("hacked"))


@pytest.mark.parametrize("role", ["architect", "author", "reviewer"])
def test_a_worker_that_edits_the_project_is_noticed(project: Project, crew: Crew, role: str) -> None:
    crew.behave(f"if role == {role!r}: open({str(project.root / 'calc.py')!r}, 'a').write('\\n')")
    refused = refusal(project)
    assert refused.reason == "provenance-changed"
    assert "source-drift" in str(refused)
    assert set(kept(project.root)) == {"architect.stdout", "author-1.stdout", "reviewer.stdout"}
    assert evidence.candidates(project.root) == []


def test_what_the_reviewer_rejects_is_staged_and_remembered_as_rejected(project: Project, crew: Crew) -> None:
    crew.behave("if role == 'reviewer': answer = {'accepted': False, 'findings': 'weak'}")
    done = project.testlore("generate", "--validate")
    assert done.returncode == 1, done.stderr
    assert "the reviewer rejected them" in done.stdout
    assert "rejected: review-rejected\n" in done.stdout
    assert project.records()[0]["warnings"] == ["review-rejected"]


def test_what_the_reviewer_accepts_without_an_oracle_is_refused(project: Project, crew: Crew) -> None:
    crew.behave("if role == 'reviewer': answer = {'accepted': True, 'findings': []}")
    assert refusal(project).reason == "oracle-missing"


def test_three_authors_work_at_a_time(project: Project, crew: Crew) -> None:
    crew.behave(
        "if role == 'architect': answer['tasks'] = [{'subject': 'calc.py', 'instructions': str(n)} for n in range(5)]\n"
        "if role == 'author':\n"
        "    begin = time.monotonic(); time.sleep(0.6)\n"
        "    (here / f'span-{os.getpid()}').write_text(f'{begin} {time.monotonic()}')\n"
        "    answer['files'][0]['path'] = f'tests/test_{task[\"instructions\"]}.py'\n"
    )
    made = agents.generate(project.root)
    assert [task.files for task in made.tasks] == [[f"tests/test_{number}.py"] for number in range(5)]
    spans = [tuple(map(float, path.read_text().split())) for path in crew.folder.glob("span-*")]
    together = [sum(begin <= moment < end for begin, end in spans) for moment, _ in spans]
    assert len(spans) == 5
    assert 2 <= max(together) <= 3


def test_after_an_author_failed_no_other_one_begins(project: Project, crew: Crew) -> None:
    crew.behave(
        "if role == 'architect':\n"
        "    answer['tasks'] = [{'subject': 'calc.py', 'instructions': str(n)} for n in range(12)]\n"
        "if role == 'author':\n"
        "    if task['instructions'] == '0': sys.exit(1)\n"
        "    time.sleep(1)\n"
    )
    assert "author 1: exit status 1" in str(refusal(project))
    assert len(crew.requests("author")) <= 6
    assert crew.requests("reviewer") == []


def test_a_linked_folder_for_what_is_kept_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project.root / ".tddswarm").mkdir()
    (project.root / ".tddswarm/generation").symlink_to(tmp_path / "elsewhere")
    assert refusal(project).reason == "generation-unsafe"
    assert not list((tmp_path / "elsewhere").iterdir())


def test_doit_generates_too(project: Project) -> None:
    done = project.doit("generate", "format=json", "validate=1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["validation"]["outcome"] == "accepted"
    listed = {line.split()[0] for line in project.doit("list").stdout.splitlines()}
    assert "generate" in listed


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["validate=yes"], "validate is 'yes'; allowed: 1 or 0"),
        (["format=prompt"], "format is 'prompt'; allowed: table, json"),
        (["valdate=1"], "there is no variable 'valdate'"),
    ],
)
def test_a_wrong_variable_of_the_task_is_named(project: Project, arguments: list[str], told: str) -> None:
    done = project.doit("generate", *arguments)
    assert done.returncode == 2
    assert told in done.stderr


def test_the_task_is_not_put_upon_a_host_project() -> None:
    from testlore import tasks

    assert "task_generate" not in tasks.__all__


def test_asking_a_memory_imports_nothing_for_agents(project: Project) -> None:
    remember_marker(project)
    script = (
        "import sys\nfrom testlore import cli\ncli.main(['recall', '--query', 'zero', '--json'])\n"
        "print(sorted(name for name in sys.modules if 'agents' in name or name.split('.')[0] in ('mcp', 'anyio')))"
    )
    assert project.python("-c", script).stdout.splitlines()[-1] == "[]"
