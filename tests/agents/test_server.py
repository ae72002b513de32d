"""The MCP server as a real process on stdio, asked by the SDK's own client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from damage import documents
from episodes import make_episode
from helpers import Json, Project, content, golden, is_alive, states, wait_until
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import MCPError, types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from testlore import recall, schemas

Talk = Callable[[Client], Awaitable[None]]


def talk(project: Project, talk: Talk, *options: str, mode: str = "auto") -> str:
    """Start a server, talk to it, end it; returns what it wrote to standard error."""
    argv = ["-m", "testlore", "mcp", "--root", str(project.root), *options]
    log = project.root.parent / "server.log"

    async def session() -> None:
        with log.open("w", encoding="utf-8") as errors:
            inherited = {name: os.environ[name] for name in ("XDG_STATE_HOME", "TESTLORE_TRUST")}
            env = {**inherited, **project.env}
            server = StdioServerParameters(command=sys.executable, args=argv, env=env, cwd=project.root.parent)
            async with Client(stdio_client(server, errors), mode=mode) as client:
                with anyio.fail_after(50):
                    await talk(client)

    anyio.run(session)
    return log.read_text(encoding="utf-8")


def text(result: types.CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def value(result: types.CallToolResult) -> Json:
    """A result's value, which its text and its structured content tell alike."""
    assert not result.is_error, text(result)
    told: Json = json.loads(text(result))
    assert result.structured_content == told
    return told


def reason(result: types.CallToolResult) -> str:
    assert result.is_error
    assert result.structured_content is None
    told: str = json.loads(text(result))["reason"]
    return told


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_handshake_and_the_lists_tell_a_model_what_there_is(project: Project, mode: str) -> None:
    async def ask(client: Client) -> None:
        assert client.server_info is not None
        assert client.server_info.name == "testlore"
        assert "untrusted" in (client.instructions or "")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"recall", "lessons", "status"}
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is True
            assert "Call it" in (tool.description or "")
            assert tool.input_schema["additionalProperties"] is False
        assert tools["recall"].input_schema["properties"]["query"]["maxLength"] == 4096
        [resource] = (await client.list_resources()).resources
        assert str(resource.uri) == "testlore://lessons"

    assert talk(project, ask, mode=mode) == ""


def test_recall_answers_as_the_command_does_and_changes_nothing_but_the_cache(project: Project) -> None:
    project.ask_natively()
    expected = recall(project.root, "zero boundary", limit=3, max_chars=4_000).to_dict()
    before = states(project.root)

    async def ask(client: Client) -> None:
        arguments = {"query": "zero boundary", "limit": 3, "max_chars": 4_000}
        result = await client.call_tool("recall", arguments)
        assert value(result) == expected
        assert schemas.first_problem("answer", result.structured_content) is None
        assert len(text(result)) <= 4_000
        assert len(value(await client.call_tool("recall", {"query": "zero boundary"}))["records"]) == 5

    talk(project, ask)
    assert states(project.root) == before


def test_lessons_status_and_the_resource_tell_of_the_memory(project: Project) -> None:
    rejected: Json = {"outcome": "rejected", "warnings": ["case-loss"]}
    project.write_store(
        [
            *(make_episode(number, "", **rejected, tags=["error"]) for number in range(4)),
            *(make_episode(number, "zero boundary", tags=["async"]) for number in range(4, 7)),
            *(make_episode(number, "", **rejected, tags=["mock"]) for number in range(10, 13)),
        ]
    )

    async def ask(client: Client) -> None:
        lessons = value(await client.call_tool("lessons", {}))["lessons"]
        assert [(one["kind"], one["subject"], one["count"]) for one in lessons] == [
            ("kind", "error", 4),
            ("kind", "mock", 3),
        ]
        assert all(one["tentative"] for one in lessons)
        status = value(await client.call_tool("status"))
        assert (status["episodes"], status["accepted"], status["rejected"]) == (10, 3, 7)
        assert status["engine"] == "ruvector 0.1.4"
        [contents] = (await client.read_resource("testlore://lessons")).contents
        assert isinstance(contents, types.TextResourceContents)
        newest_first = [one["subject"] for one in json.loads(contents.text)["lessons"]]
        assert newest_first == ["mock", "error"]

    talk(project, ask)


def test_a_wrong_call_names_what_was_wrong_and_the_server_goes_on(project: Project) -> None:
    wrong: list[tuple[Json, str]] = [
        ({}, "call-invalid: the document lacks the key 'query'"),
        ({"query": 7}, "call-invalid: query is 7; allowed: what the test is about"),
        ({"query": "x" * 4_097}, "at most 4096 characters"),
        ({"query": "🚀" * 4_000}, "query is 8000 characters long; allowed: a text of at most 4096 characters"),
        ({"query": "zero", "limit": 0}, "limit is 0; allowed: how many records at most, a whole number from 1 to 20"),
        ({"query": "zero", "limit": True}, "limit is true; allowed"),
        ({"query": "zero", "limit": 5.5}, "limit is 5.5; allowed"),
        ({"query": "zero", "max_chars": 255}, "max_chars is 255; allowed: "),
        ({"query": "zero", "root": "/"}, "the document has the unknown key 'root'; allowed: query, limit, max_chars"),
    ]

    async def ask(client: Client) -> None:
        for arguments, told in wrong:
            assert told in reason(await client.call_tool("recall", arguments))
        assert "unknown key 'all'" in reason(await client.call_tool("lessons", {"all": True}))
        with pytest.raises(MCPError, match="there is no tool 'validate'; allowed: recall, lessons, status"):
            await client.call_tool("validate", {})
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource("file:///etc/passwd")
        assert value(await client.call_tool("recall", {"query": "zero"}))["records"]

    talk(project, ask)


def test_a_store_that_is_corrupt_is_an_error_to_read_and_stays_as_it_is(project: Project) -> None:
    project.store.write_text("{}")

    async def ask(client: Client) -> None:
        for name, arguments in (("recall", {"query": "zero"}), ("lessons", {}), ("status", {})):
            assert reason(await client.call_tool(name, arguments)).startswith("store-corrupt")
        with pytest.raises(MCPError, match="store-corrupt"):
            await client.read_resource("testlore://lessons")

    talk(project, ask)
    assert project.store.read_text() == "{}"


def test_where_there_is_nothing_to_recall_that_is_no_error(project: Project) -> None:
    async def ask(client: Client) -> None:
        for why in ("learning-disabled", "no-memory"):
            for name, arguments in (("recall", {"query": "zero"}), ("lessons", {}), ("status", {})):
                assert value(await client.call_tool(name, arguments))["reason"].startswith(why)
            project.configure()
            project.store.unlink(missing_ok=True)

    project.configure(learning={"enabled": False})
    talk(project, ask)


def slow_embedding(project: Project) -> Path:
    """Let the project's own embedding command take a minute; returns where it leaves its process's number."""
    mark = project.root.parent / "started"
    script = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    command = {"mode": "command", "argv": [sys.executable, "-c", script], "identity": "slow"}
    project.configure({"embedding": command, "timeoutMs": 4_000})
    return mark


def test_two_calls_at_once_are_answered_by_turns_and_a_cancelled_one_holds_up_none(project: Project) -> None:
    mark = slow_embedding(project)
    answered: list[str] = []

    async def ask(client: Client) -> None:
        async def slowly() -> None:
            await client.call_tool("recall", {"query": "zero"})
            answered.append("slow")

        begin = time.monotonic()
        async with anyio.create_task_group() as group:
            group.start_soon(slowly)
            while not mark.exists():
                await anyio.sleep(0.02)
            assert value(await client.call_tool("lessons", {}))["advisoryOnly"]
            answered.append("lessons")
        assert answered == ["lessons", "slow"]
        begin = time.monotonic()
        with anyio.move_on_after(0.3) as scope:
            await client.call_tool("recall", {"query": "boundary"})
        assert scope.cancelled_caught
        assert value(await client.call_tool("status", {}))["episodes"] == 7
        assert time.monotonic() - begin < 1.9  # half of timeoutMs is what the command gets

    talk(project, ask)
    assert wait_until(lambda: not is_alive(int(mark.read_text() or 0)))


def test_two_recalls_at_once_build_the_index_once(project: Project) -> None:
    async def ask(client: Client) -> None:
        found: list[Any] = []

        async def one() -> None:
            found.append(value(await client.call_tool("recall", {"query": "zero boundary"})))

        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(one)
        assert [answer["retrieval"] for answer in found] == ["ruvector"] * 2
        assert found[0]["records"] == found[1]["records"]

    talk(project, ask)


def test_nothing_that_the_project_names_is_started(project: Project) -> None:
    mark = slow_embedding(project)

    async def ask(client: Client) -> None:
        answer = value(await client.call_tool("recall", {"query": "zero boundary"}))
        assert answer["records"]
        assert answer["retrieval"] == "deterministic-lexical"
        [_, fallback] = answer["warnings"]
        assert fallback.startswith("RuVector fallback: ruvector-untrusted-command: embedding [")
        assert "ruvector-untrusted-command" in value(await client.call_tool("status", {}))["fallback"]

        project.configure({"runtime": "node"})
        [_, fallback] = value(await client.call_tool("recall", {"query": "zero boundary"}))["warnings"]
        assert fallback == "RuVector fallback: ruvector-untrusted-command: engine node"

    talk(project.with_env(TESTLORE_TRUST="0"), ask)
    assert not mark.exists()


def test_a_root_that_was_replaced_is_refused_until_it_is_back(project: Project) -> None:
    async def ask(client: Client) -> None:
        async def refused() -> None:
            for name, arguments in (("recall", {"query": "zero"}), ("lessons", {}), ("status", {})):
                assert reason(await client.call_tool(name, arguments)).startswith("root-replaced: ")
            with pytest.raises(MCPError, match="root-replaced"):
                await client.read_resource("testlore://lessons")

        assert value(await client.call_tool("recall", {"query": "zero"}))["records"]
        moved = project.root.rename(project.root.with_name("moved"))
        await refused()
        project.root.symlink_to(moved)
        await refused()
        project.root.unlink()
        Project(moved).moved(project.root)
        await refused()
        project.root.rename(project.root.with_name("other"))
        moved.rename(project.root)
        assert value(await client.call_tool("recall", {"query": "zero"}))["records"]

    talk(project, ask)


def test_a_root_that_is_no_folder_ends_with_2(project: Project) -> None:
    done = project.testlore("mcp", "--root", "no-such-folder", input="")
    assert (done.returncode, done.stdout) == (2, "")
    assert "call-invalid: root is 'no-such-folder'; allowed: an existing folder" in done.stderr


def test_standard_output_is_the_protocols_alone(project: Project) -> None:
    """Spoken by hand, so that every byte is seen; the engine is made to chatter on both of its streams."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    }
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        "no JSON at all",
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "recall", "arguments": {"query": "zero"}},
        },
    ]
    chatter = "import sys; print('chatter'); sys.stderr.write('chatter'); sys.exit(1)"
    project.configure(
        {"embedding": {"mode": "command", "argv": [sys.executable, "-c", chatter], "identity": "chatter"}}
    )
    argv = [sys.executable, "-m", "testlore", "mcp", "--root", str(project.root)]
    server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=project.root.parent)
    assert server.stdin is not None
    assert server.stdout is not None
    with server:
        for line in lines:
            server.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        server.stdin.flush()
        told: list[Json] = []
        while not any(one.get("id") == 2 for one in told):
            told.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        told += [json.loads(line) for line in server.stdout]
    assert server.returncode == 0
    assert all(one["jsonrpc"] == "2.0" for one in told)
    assert "ruvector-embedding-command-failed" in json.dumps(told)


def test_a_client_that_is_gone_ends_the_server_without_a_traceback(project: Project) -> None:
    argv = [sys.executable, "-m", "testlore", "mcp", "--root", str(project.root)]
    nobody_reads, answers = os.pipe()
    os.close(nobody_reads)
    ping = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    with os.fdopen(answers, "w") as stdout:
        done = subprocess.run(argv, input=ping * 3, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")


def test_patterns_with_half_a_character_still_go_over_the_wire(project: Project) -> None:
    project.write_store([make_episode(1, "zero boundary \ud83d")])

    async def ask(client: Client) -> None:
        result = await client.call_tool("recall", {"query": "zero"})
        assert "\\ud83d" in text(result)
        assert result.structured_content is not None
        assert result.structured_content["records"][0]["patterns"][0]["content"] == "zero boundary ?"

    talk(project, ask)


def test_without_the_sdk_the_command_says_what_to_install(project: Project) -> None:
    script = "import sys; sys.modules['mcp'] = None; from testlore import cli; sys.exit(cli.main(['mcp']))"
    done = project.python("-c", script)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'testlore-recall[mcp]'" in done.stderr
    assert content(project.store) is not None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_quietly_with_its_number(project: Project, number: int) -> None:
    heed = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL);"  # nohup, which CI may run under, is respected
        "sys.argv = ['testlore', 'mcp']; from testlore.__main__ import command; command()"
    )
    with subprocess.Popen([sys.executable, "-c", heed], cwd=project.root, stdin=-1, stdout=-1, stderr=-1) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "n", "version": "1"}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()
        assert b"serverInfo" in server.stdout.readline()
        server.send_signal(number)
        assert server.wait(20) == 128 + number
        assert server.stderr is not None
        assert server.stderr.read() == b""


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}
CALL = {"name": "recall", "arguments": {"query": "zero", "limit": 5, "max_chars": 300}}
MESSAGES = [
    {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    for method, params in (
        *(("initialize", HELLO), ("tools/call", CALL), ("resources/read", {"uri": "testlore://lessons"})),
    )
]


@given(st.lists(st.sampled_from(MESSAGES).flatmap(documents), min_size=40, max_size=80))
@settings(deadline=None, max_examples=max(2, settings().max_examples // 1_000), suppress_health_check=list(HealthCheck))
def test_damaged_messages_end_neither_the_server_nor_the_protocol(served: Project, damaged: list[bytes]) -> None:
    last = json.dumps({"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": CALL}).encode()
    ready = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    lines = [json.dumps(MESSAGES[0]).encode(), ready, *(one.replace(b"\n", b" ") for one in damaged), last]
    argv = [sys.executable, "-m", "testlore", "mcp", "--root", str(served.root)]
    with subprocess.Popen(argv, stdin=-1, stdout=-1, stderr=-1, bufsize=0) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        talking = threading.Thread(target=server.stdin.write, args=(b"\n".join(lines) + b"\n",))
        talking.start()  # the server stops to read where nobody reads its answers
        told: list[Json] = [json.loads(server.stdout.readline())]
        while told[-1].get("id") != "last":
            told.append(json.loads(server.stdout.readline()))
        talking.join()
        server.stdin.close()
        assert b"Traceback" not in server.stderr.read()
    assert server.returncode == 0
    assert told[-1]["result"]["isError"] is False


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(golden("till", tmp_path_factory.mktemp("served") / "till"))
