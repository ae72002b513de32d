"""The ``testlore`` command and the Python API, as users meet them."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import testlore
from helpers import REPOSITORY, Project, ids, is_alive, wait_until
from testlore import recall
from testlore.stages import call


def test_the_table_names_the_engine_and_keeps_warnings_off_standard_output(project: Project) -> None:
    done = project.testlore("recall", "--query", "zero boundary")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "5 episodes recalled by ruvector 0.1.4 (lexical-vector, index built)."
    assert "test('zero boundary" in done.stdout
    assert "untrusted" in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_prompt_is_one_fenced_block(project: Project) -> None:
    done = project.testlore("recall", "--query", "zero boundary", "--format", "prompt", "--max-chars", "2000")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("BEGIN UNTRUSTED TEST HISTORY")
    assert lines[-1].startswith("END UNTRUSTED TEST HISTORY")
    assert len(done.stdout) <= 2000


def test_the_command_and_the_api_answer_the_same(project: Project) -> None:
    project.ask_natively()
    answer = recall(project.root, "zero boundary", limit=3, max_chars=4000)
    done = project.testlore("recall", "--query", "zero boundary", "--json", "--limit", "3", "--max-chars", "4000")
    assert answer.to_dict() == json.loads(done.stdout)
    assert len(answer.records) == 3
    assert answer.exit_status == 0


def test_the_current_folder_is_the_project(project: Project, tmp_path: Path) -> None:
    elsewhere = project.testlore("recall", "--query", "zero", "--json", "--root", str(project.root), cwd=tmp_path)
    here = project.testlore("recall", "--query", "zero", "--json")
    assert json.loads(here.stdout)["records"]
    assert ids(json.loads(here.stdout)) == ids(json.loads(elsewhere.stdout))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--limit", "0"], "limit is 0; allowed: a whole number from 1 to 20"),
        (["--limit", "21"], "limit is 21; allowed: a whole number from 1 to 20"),
        (["--limit", "many"], "limit is 'many'; allowed: a whole number from 1 to 20"),
        (["--limit", "2.5"], "limit is '2.5'; allowed: a whole number from 1 to 20"),
        (["--max-chars", "255"], "max_chars is 255; allowed: a whole number from 256 to 20000"),
        (["--max-chars", "20001"], "max_chars is 20001; allowed: a whole number from 256 to 20000"),
        (["--root", "/no/such/folder"], "root is '/no/such/folder'; allowed: an existing folder"),
        (["--query", "x" * 4097], "query is 4097 characters long; allowed: a text of at most 4096 characters"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(project: Project, arguments: list[str], told: str) -> None:
    done = project.testlore("recall", "--query", "zero", "--json", *arguments)
    assert done.returncode == 2
    assert json.loads(done.stdout) == {"records": [], "advisoryOnly": True, "reason": f"call-invalid: {told}"}
    assert done.stderr == f"testlore: call-invalid: {told}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["recall"], ["no-such-command"], ["recall", "--query", "x", "--format", "xml"]]
)
def test_a_command_line_that_is_wrong_shows_the_usage(project: Project, arguments: list[str]) -> None:
    done = project.testlore(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("usage: testlore")


@pytest.mark.parametrize(
    ("root", "query", "limit", "max_chars"),
    [
        (None, "zero", 5, 6000), (".", None, 5, 6000), (".", b"zero", 5, 6000), (".", "zero", True, 6000),
        (".", "zero", "5", 6000), (".", "zero", 5, None), (b".", "zero", 5, 6000), ("a\0b", "zero", 5, 6000),
        (3, "zero", 5, 6000), (".", "zero", 5.0, 6000),
    ],
)  # fmt: skip
def test_the_api_refuses_wrong_types_without_raising(
    root: object, query: object, limit: object, max_chars: object
) -> None:
    answer = recall(root, query, limit, max_chars)  # type: ignore[arg-type]
    assert answer.reason.startswith("call-invalid: ")
    assert answer.exit_status == 2
    assert answer.records == []


def test_a_query_of_any_characters_is_answered(project: Project) -> None:
    for query in (
        "zero \ud800 boundary",
        "\0zero",
        "zero\nboundary",
        "-zero",
        "🚀 zero",
        "zéro ☕ boundary",
        "%s {0} zero",
    ):
        assert recall(project.root, query).records
    done = project.testlore("recall", "--query=-zero", "--json")
    assert json.loads(done.stdout)["records"]


def test_output_is_utf_8_whatever_the_locale_says(project: Project) -> None:
    env = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = project.with_env(**env).testlore("recall", "--query", "unicode accents", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["records"]


def test_a_reader_that_has_seen_enough_ends_nothing_badly(project: Project) -> None:
    project.ask_natively()
    command = f"{sys.executable} -m testlore recall --query 'zero boundary' --root {project.root} | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def test_where_there_is_no_memory_standard_error_says_how_to_begin(tmp_path: Path) -> None:
    done = Project(tmp_path).testlore("recall", "--query", "zero", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["reason"].startswith("no-memory")
    assert "begins with" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_warm_recall_imports_nothing_heavy(project: Project) -> None:
    project.ask_natively()
    done = project.python("-X", "importtime", "-m", "testlore", "recall", "--query", "zero boundary", "--json")
    assert json.loads(done.stdout)["retrievalDetails"]["cache"] == "reused"
    imported = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "testlore" in imported
    heavy = {"numpy", "jsonschema", "tabulate", "filelock", "dataclasses", "inspect", "asyncio", "doit", "wcwidth"}
    assert not imported & (heavy | {"tempfile", "random", "email"})


def test_the_doctor_says_which_engine_answers(project: Project) -> None:
    done = project.testlore("doctor")
    assert done.returncode == 0
    assert "ruvector 0.1.4" in done.stdout
    assert "ruvector answers with 7 episodes" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_doctor_says_why_it_falls_back_and_what_to_do(project: Project) -> None:
    done = project.testlore("doctor", "--json")
    assert {finding["state"] for finding in json.loads(done.stdout)["findings"]} == {"ok"}
    project.configure({"dimensions": 3})
    findings = json.loads(project.testlore("doctor", "--json").stdout)["findings"]
    [wrong] = [finding for finding in findings if finding["part"] == "recall"]
    assert "ruvector-invalid-settings: plugins.ruvector.dimensions is 3" in wrong["text"]
    assert wrong["advice"]


def test_the_doctor_ends_as_a_recall_would(project: Project, tmp_path: Path) -> None:
    assert Project(tmp_path).testlore("doctor").returncode == 0
    project.store.write_text("{}")
    done = project.testlore("doctor")
    assert done.returncode == 1
    assert "store-corrupt" in done.stdout


def test_the_version_is_told(project: Project) -> None:
    assert project.testlore("--version").stdout == f"testlore {testlore.__version__}\n"


@pytest.mark.parametrize("command", [["recall", "--query", "zero"], ["recall", "--query", "zero", "--json"], ["learn"]])
def test_a_closed_standard_output_is_told(project: Project, command: list[str]) -> None:
    done = project.run("bash", "-c", 'exec "$@" >&-', "bash", sys.executable, "-m", "testlore", *command)
    assert done.returncode == 1
    assert done.stderr == "testlore: the answer cannot be written: standard output is closed\n"


def test_a_closed_standard_input_is_told(project: Project) -> None:
    done = project.run("bash", "-c", 'exec "$@" <&-', "bash", sys.executable, "-m", "testlore", "stage", "-")
    assert done.returncode == 2
    assert "standard input is closed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_output_is_told(project: Project) -> None:
    with open("/dev/full", "w") as full:
        done = project.testlore("recall", "--query", "zero", "--json", capture_output=False, stdout=full, stderr=-1)
    assert done.returncode == 1
    assert done.stderr == "testlore: the answer cannot be written: No space left on device\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_recall_that_is_ended_leaves_no_command_running(project: Project, tmp_path: Path, number: int) -> None:
    command = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    embedding = {"mode": "command", "argv": [sys.executable, "-c", command], "identity": "sleeps"}
    project.configure({"embedding": embedding, "timeoutMs": 60_000})
    asking = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL);"  # nohup, which CI may run under, is respected
        "sys.argv = ['testlore', 'recall', '--query', 'zero']; from testlore.cli import command; command()"
    )
    running = subprocess.Popen([sys.executable, "-c", asking], cwd=project.root, stderr=subprocess.PIPE, text=True)
    assert wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "", 20)
    running.send_signal(number)
    assert "Traceback" not in running.communicate()[1]
    assert running.returncode == 128 + number
    assert wait_until(lambda: not is_alive(int((tmp_path / "pid").read_text())))


@pytest.mark.parametrize("door", ["script", "module"])
def test_an_interrupt_while_we_are_still_imported_shows_no_traceback(tmp_path: Path, door: str) -> None:
    # It stands in for a module that the command imports, and takes its time.
    (tmp_path / "argparse.py").write_text("import time\nprint('imports', flush=True)\ntime.sleep(60)\n")
    scripts = re.findall(r'^testlore = "(.+):(.+)"$', (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE)
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = {
        "script": f"{heed}from {scripts[0][0]} import {scripts[0][1]} as main; main()",
        "module": f"{heed}import runpy; runpy.run_module('testlore', run_name='__main__')",
    }[door]
    argv = [sys.executable, "-c", code]
    with subprocess.Popen(
        argv, env={**os.environ, "PYTHONPATH": str(tmp_path)}, text=True, stdout=-1, stderr=-1
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "imports\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 128 + signal.SIGINT
        assert running.stderr is not None
        assert running.stderr.read() == ""


def test_the_package_imports_nothing_before_the_command_can_be_interrupted(tmp_path: Path) -> None:
    code = "import sys; old = set(sys.modules); import testlore; print(*sorted(set(sys.modules) - old))"
    assert Project(tmp_path).python("-c", code).stdout.split() == ["__future__", "testlore"]


def test_the_function_has_the_limits_of_the_command() -> None:
    given = inspect.signature(testlore.recall).parameters
    assert (given["limit"].default, given["max_chars"].default) == (call.DEFAULT_LIMIT, call.DEFAULT_MAX_CHARS)


def test_a_working_directory_that_is_gone_is_told(project: Project, tmp_path: Path) -> None:
    gone = f"cd {tmp_path}; mkdir gone; cd gone; rmdir ../gone; {sys.executable} -m testlore recall --query x --json"
    done = project.run("bash", "-c", gone)
    assert done.returncode == 2
    assert json.loads(done.stdout)["reason"] == "call-invalid: root is '.'; allowed: an existing folder"
