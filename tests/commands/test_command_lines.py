"""What the command line takes, what it refuses, and what its help says."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from helpers import Project, ids
from testlore import cli, commands
from testlore.commands import NAMES

NO_COMMANDS = {"__init__", "formats", "output"}


def test_every_module_of_the_folder_is_a_command_that_is_listed() -> None:
    folder = Path(commands.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} - NO_COMMANDS
    assert sorted(NAMES) == sorted(module.replace("_", "-") for module in modules)


def test_help_lists_every_command_and_imports_nothing_heavy(project: Project) -> None:
    done = project.python("-X", "importtime", "-m", "testlore", "--help")
    assert done.returncode == 0
    assert [name for name in NAMES if f"\n    {name}" not in done.stdout] == []
    imported = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert not imported & {"doit", "jsonschema", "matplotlib", "mcp", "numpy", "tabulate"}


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_ends_with_examples_that_it_takes(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    _, _, examples = capfd.readouterr().out.partition("\nexamples:\n")
    assert 1 <= len(examples.splitlines()) <= 2
    for example in examples.splitlines():
        words = shlex.split(example.partition(" > ")[0].rpartition(" | ")[2])
        assert words[:2] == ["testlore", name]
        assert callable(cli._parse(words[1:]).run)


def test_only_the_module_of_the_command_is_imported(project: Project) -> None:
    code = (
        "import sys; from testlore.cli import main; main(['export'])\n"
        f"print([name for name in {NAMES!r} if 'testlore.commands.' + name in sys.modules])"
    )
    assert project.python("-c", code).stdout.splitlines()[-1] == "['export']"


def test_a_query_is_given_as_an_argument_or_as_an_option(project: Project) -> None:
    project.ask_natively()
    option = project.testlore("recall", "--query", "zero boundary", "--json")
    for arguments in (["zero boundary", "--json"], ["--json", "zero boundary"], ["--json", "--", "zero boundary"]):
        done = project.testlore("recall", *arguments)
        assert done.returncode == 0, done.stderr
        assert done.stdout == option.stdout
    assert ids(json.loads(option.stdout))


def test_a_query_that_begins_with_a_dash_stands_after_two(project: Project) -> None:
    assert ids(json.loads(project.testlore("recall", "--json", "--", "-zero").stdout))


@pytest.mark.parametrize(
    "words",
    [
        ["recall", "zero", "--root=--"],
        ["forget", "deadbeef", "--why=--"],
        ["evaluate", "--repo=.", "--chart=--"],
        ["merge", "--from=--"],
    ],
)
def test_two_dashes_are_a_value_like_any_other(project: Project, words: list[str]) -> None:
    done = project.testlore(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("testlore: call-invalid: ")
    assert "[]" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "one of the arguments QUERY --query is required"),
        (["--json"], "one of the arguments QUERY --query is required"),
        (["zero", "--query", "boundary"], "argument --query: not allowed with argument QUERY"),
        (["--query", "boundary", "zero"], "argument QUERY: not allowed with argument --query"),
        (["zero", "boundary"], "unrecognized arguments: boundary"),
    ],
)
def test_no_query_or_two_are_refused_with_the_usage(project: Project, arguments: list[str], told: str) -> None:
    done = project.testlore("recall", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: testlore recall")
    assert told in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--limit", "0"], ["--limit", "21"], ["--max-chars", "x"], ["--query=" + "x" * 5000]]
)
def test_what_is_out_of_bounds_starts_no_worker(built: Project, arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from testlore.child import Child\n"
        "def refuse(*_, **__): sys.exit('a child was started')\n"
        "Child.__init__ = refuse\n"
        "from testlore.cli import main\n"
        "sys.exit(main(['recall', *sys.argv[1:]]))\n"
    )
    query = [] if arguments[0].startswith("--query") else ["zero"]
    done = built.python("-c", code, *query, *arguments)
    assert done.returncode == 2
    assert "call-invalid" in done.stderr


def test_main_may_be_called_from_python(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["export", "--root", str(project.root), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)
    assert cli.main(["export", "--root", "/no/such/folder"]) == 2
    assert "call-invalid: root is '/no/such/folder'" in capfd.readouterr().err
    with pytest.raises(SystemExit) as ended:
        cli.main(["merge"])
    assert ended.value.code == 2
    assert "the following arguments are required: --from" in capfd.readouterr().err
