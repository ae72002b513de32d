"""The embedding command: what is asked of it, what it may do wrong, and when it is asked again."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode, pattern
from helpers import DOORS, Project, ids, is_alive, states, wait_until, word

TIMEOUT_MS = 3000
FAILED, INVALID = "ruvector-embedding-command-failed", "ruvector-invalid-embedding-output"

PREAMBLE = """
import json, math, os, signal, subprocess, sys, time
pids = open({pids!r}, "a")
pids.write(f"{{os.getpid()}}\\n")
pids.flush()

def read():
    request = json.loads(sys.stdin.buffer.read())
    assert set(request) == {{"schemaVersion", "dimensions", "texts"}} and request["schemaVersion"] == 1
    with open({counts!r}, "a") as file:
        file.write(f"{{len(request['texts'])}}\\n")
    return request

def vector(text, size):
    return [float(text.encode().count(place)) + 0.5 for place in range(size)]

def good(request):
    return [vector(text, request["dimensions"]) for text in request["texts"]]

def say(vectors, version=1):
    print(json.dumps({{"schemaVersion": version, "vectors": vectors}}), flush=True)

def grandchild():
    child = subprocess.Popen(["sleep", "60"])
    pids.write(f"{{child.pid}}\\n")
    pids.flush()
"""

GOOD = "say(good(read()))"

FAILING = {
    "exits non-zero": ("sys.exit(3)", FAILED),
    "answers and exits non-zero": (f"{GOOD}; sys.exit(3)", FAILED),
    "dies by a signal": ("os.kill(os.getpid(), signal.SIGSEGV)", FAILED),
    "hangs": ("time.sleep(60)", FAILED),
    "ignores SIGTERM": ("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", FAILED),
    "answers and does not end": (f"{GOOD}; time.sleep(60)", FAILED),
    "floods stdout": ("read()\nwhile True: os.write(1, bytes(65536))", INVALID),
    "floods stderr": ("read()\nwhile True: os.write(2, bytes(65536))", FAILED),
    "prints nothing": ("read()", INVALID),
    "prints no JSON": ("read(); print('vectors')", INVALID),
    "prints bytes that are no text": ("read(); os.write(1, bytes([255, 254]))", INVALID),
    "prints two objects": ("request = read(); say(good(request)); say(good(request))", INVALID),
    "prints a list": ("print(json.dumps(good(read())))", INVALID),
    "has another key": ("print(json.dumps({'schemaVersion': 1, 'vectors': good(read()), 'model': 'x'}))", INVALID),
    "has schemaVersion 2": ("say(good(read()), version=2)", INVALID),
    "has schemaVersion true": ("say(good(read()), version=True)", INVALID),
    "has schemaVersion as text": ("say(good(read()), version='1')", INVALID),
    "too few vectors": ("say(good(read())[1:])", INVALID),
    "too many vectors": ("say([*(found := good(read())), found[0]])", INVALID),
    "vectors are no list": ("say({'0': good(read())[0]})", INVALID),
    "a vector is too short": ("say([row[1:] for row in good(read())])", INVALID),
    "a vector is too long": ("say([[*row, 1] for row in good(read())])", INVALID),
    "a vector is no list": ("say([str(row) for row in good(read())])", INVALID),
    "NaN": ("say([[math.nan, *row[1:]] for row in good(read())])", INVALID),
    "Infinity": ("say([[-math.inf, *row[1:]] for row in good(read())])", INVALID),
    "a number beyond all floats": (
        "print(json.dumps({'schemaVersion': 1, 'vectors': good(read())}).replace('0.5', '1e999', 1))",
        INVALID,
    ),
    "a whole number of too many digits": (
        "print(json.dumps({'schemaVersion': 1, 'vectors': good(read())}).replace('0.5', '9' * 5000, 1))",
        INVALID,
    ),
    "numbers as text": ("say([[str(value) for value in row] for row in good(read())])", INVALID),
    "a boolean": ("say([[True, *row[1:]] for row in good(read())])", INVALID),
    "null": ("say([[None, *row[1:]] for row in good(read())])", INVALID),
    "a zero vector": ("say([[0] * len(row) for row in good(read())])", INVALID),
    "a magnitude over the limit": ("say([[1_000_000.5, *row[1:]] for row in good(read())])", INVALID),
    "leaves a grandchild and no answer": ("read(); grandchild()", INVALID),
    "leaves a grandchild and hangs": ("read(); grandchild(); time.sleep(60)", FAILED),
}

CLOSING = {
    "and hangs": "os.close(0); time.sleep(60)",
    "and ends": "os.close(0); time.sleep(0.1)",
    "and answers all the same": "os.close(0); time.sleep(0.1); say([vector('', 128)] * 122)",
    "after some of it": "os.read(0, 100_000); os.close(0); time.sleep(0.1); sys.exit(0)",
}


class Provider:
    """An embedding command in a project, which tells what it was asked and which processes it was.

    Args:
        project: whose configuration names it.
        notes: a folder of its own for what it tells.
    """

    def __init__(self, project: Project, notes: Path) -> None:
        notes.mkdir()
        self.project = project
        self.argv = [sys.executable, "-S", "embed.py"]
        self._pids, self._counts = notes / "pids", notes / "counts"
        self.write(GOOD)
        self.configure()

    def write(self, code: str) -> None:
        preamble = PREAMBLE.format(pids=str(self._pids), counts=str(self._counts))
        (self.project.root / "embed.py").write_text(preamble + code + "\n")

    def configure(self, *argv: str, identity: str = "counting-1", **plugin: Any) -> None:
        embedding = {"mode": "command", "argv": [*self.argv, *argv], "identity": identity}
        self.project.configure({"embedding": embedding, "timeoutMs": TIMEOUT_MS, **plugin})

    def counts(self) -> list[int]:
        """How many texts each call since the last question was sent."""
        found = [int(line) for line in self._counts.read_text().split()] if self._counts.exists() else []
        self._counts.unlink(missing_ok=True)
        return found

    def all_ended(self) -> bool:
        pids = self._pids.read_text().split()
        assert pids
        return wait_until(lambda: not any(is_alive(int(pid)) for pid in pids))


@pytest.fixture
def provider(project: Project, tmp_path: Path) -> Provider:
    return Provider(project, tmp_path / "notes")


def cases(faults: dict[str, Any]) -> list[Any]:
    return [
        pytest.param(*(fault if isinstance(fault, tuple) else (fault,)), id=name.replace(" ", "-"))
        for name, fault in faults.items()
    ]


def made(project: Project, *beginnings: str) -> list[str]:
    """What lies in the cache under a name that begins so, a temporary file included."""
    return [name for name in states(project.cache) if name.startswith(beginnings)]


def falls_back(project: Project, expected: str, lexical_ids: list[str]) -> str:
    """Answered lexically, for the right reason and in time. Returns the warning."""
    start = time.monotonic()
    answer = project.ask()
    assert time.monotonic() - start < TIMEOUT_MS / 1000
    assert answer["retrieval"] == "deterministic-lexical"
    assert ids(answer) == lexical_ids
    assert word(answer) == expected, answer["warnings"]
    warning: str = answer["warnings"][-1]
    return warning


@pytest.mark.parametrize(("code", "expected"), cases(FAILING))
def test_a_command_that_fails_gives_lexical_recall_in_time_and_leaves_nothing_running(
    provider: Provider, lexical_ids: list[str], code: str, expected: str
) -> None:
    provider.write(code)
    falls_back(provider.project, expected, lexical_ids)
    assert provider.all_ended()
    assert not made(provider.project, "embeddings", "vectors")


@pytest.mark.parametrize("door", DOORS)
def test_a_failure_is_not_kept_and_a_mended_command_is_used(provider: Provider, door: str) -> None:
    for name in ("exits non-zero", "too few vectors"):
        code, expected = FAILING[name]
        provider.write(code)
        assert word(provider.project.ask(door)) == expected
    provider.write(GOOD)
    assert provider.project.ask_natively(door) == "built"


def test_a_command_that_fails_for_the_query_alone_leaves_the_index(
    provider: Provider, lexical_ids: list[str], tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    provider.write(f"sys.exit(5) if os.path.exists({str(broken)!r}) else {GOOD}")
    assert provider.project.ask_natively() == "built"
    before = states(provider.project.cache)
    broken.touch()
    falls_back(provider.project, FAILED, lexical_ids)
    assert states(provider.project.cache) == before
    broken.unlink()
    assert provider.project.ask_natively() == "reused"


@pytest.mark.parametrize("argv", [["no-such-program"], ["./embed.py"], ["."], ["embed.py/x"]], ids=str)
def test_a_command_that_cannot_be_started_is_named(
    project: Project, lexical_ids: list[str], argv: list[str], provider: Provider
) -> None:
    provider.argv = argv
    provider.configure()
    assert argv[0] in falls_back(project, FAILED, lexical_ids)


@pytest.mark.parametrize("code", cases(CLOSING))
def test_a_command_that_closes_its_input_early_has_failed(provider: Provider, code: str) -> None:
    records = [
        make_episode(number, patterns=[pattern(f"{number} {place} " + "あ" * 1_190) for place in range(8)])
        for number in range(120)
    ]
    provider.project.write_store([*records, make_episode(200, tags=["boundary"])])
    text = json.dumps(json.loads(provider.project.store.read_bytes()), indent=2, ensure_ascii=False)
    provider.project.store.write_text(text, "utf-8")  # as TestLore writes it: a text of three bytes a character
    assert provider.project.store.stat().st_size > 3.5 * (1 << 20)
    provider.write(code)
    start = time.monotonic()
    answer = provider.project.ask()
    assert word(answer) == FAILED, answer["warnings"]
    assert answer["records"]
    assert time.monotonic() - start < TIMEOUT_MS / 1000 + 1  # a store of 4 MiB is read and ranked in it, too
    assert provider.all_ended()


def test_an_answer_with_a_grandchild_left_behind_counts_and_the_grandchild_does_not_live(provider: Provider) -> None:
    provider.write(f"grandchild(); {GOOD}")
    start = time.monotonic()
    assert provider.project.ask_natively() == "built"
    assert time.monotonic() - start < TIMEOUT_MS / 1000
    assert provider.all_ended()


def test_much_on_stderr_does_no_harm(provider: Provider) -> None:
    provider.write(f"os.write(2, bytes(1 << 20)); {GOOD}")
    assert provider.project.ask_natively() == "built"


def test_the_last_line_on_stderr_is_passed_on_as_one_harmless_line(provider: Provider, lexical_ids: list[str]) -> None:
    provider.write("print('\\x1b[31mno\\tmodel\\x07 here\\n\\n', file=sys.stderr); sys.exit(3)")
    warning = falls_back(provider.project, FAILED, lexical_ids)
    assert warning.endswith("exit status 3: [31mno model here")


@pytest.mark.parametrize("door", DOORS)
def test_an_unchanged_command_is_sent_the_query_alone_and_in_one_call(provider: Provider, door: str) -> None:
    assert provider.project.ask_natively(door) == "built"
    assert provider.counts() == [len(provider.project.records()) + 1]
    for _ in range(2):
        assert provider.project.ask_natively(door) == "reused"
        assert provider.counts() == [1]
    for path in provider.project.cache.glob("doit.sqlite3*"):
        path.unlink()
    assert provider.project.ask_natively(door) == "reused"
    assert provider.counts() == [1]


def test_a_change_of_script_identity_or_argv_rebuilds(provider: Provider) -> None:
    project, everything = provider.project, [len(provider.project.records()) + 1]
    assert project.ask_natively() == "built"
    assert provider.counts() == everything

    provider.write(f"{GOOD}  # another script")
    assert (project.ask_natively(), provider.counts()) == ("built", everything)
    provider.configure(identity="counting-2")
    assert (project.ask_natively("doit"), provider.counts()) == ("built", everything)
    provider.configure("--more", identity="counting-2")
    assert (project.ask_natively(), provider.counts()) == ("built", everything)
    provider.configure("--more", identity="counting-2", dimensions=64)
    assert (project.ask_natively(), provider.counts()) == ("built", everything)
    assert (project.ask_natively(), provider.counts()) == ("reused", [1])


def test_a_large_script_is_known_by_size_and_time(provider: Provider) -> None:
    provider.write(GOOD + "\n#" + "x" * (1 << 20))
    everything = [len(provider.project.records()) + 1]
    assert (provider.project.ask_natively(), provider.counts()) == ("built", everything)
    assert (provider.project.ask_natively(), provider.counts()) == ("reused", [1])
    provider.write(GOOD + "\n#" + "y" * (1 << 20))
    assert (provider.project.ask_natively(), provider.counts()) == ("built", everything)


def test_only_what_is_new_is_embedded(provider: Provider) -> None:
    assert provider.project.ask_natively() == "built"
    provider.counts()
    provider.project.write_store([*provider.project.records(), make_episode(1, "another boundary")])
    assert provider.project.ask_natively() == "built"
    assert provider.counts() == [2]


def test_a_fresh_clone_with_the_restored_cache_embeds_the_query_alone(provider: Provider, tmp_path: Path) -> None:
    assert provider.project.ask_natively() == "built"
    provider.counts()
    clone = provider.project.moved(tmp_path / "clone")
    assert clone.ask_natively("doit") == "reused"
    assert provider.counts() == [1]


def test_no_word_needs_to_be_shared_and_the_details_say_so(provider: Provider) -> None:
    answer = provider.project.ask(query="qqq zzz xyzzy")
    assert answer["retrieval"] == "ruvector"
    assert answer["retrievalDetails"]["mode"] == "external-embedding"
    assert len(answer["records"]) == 5


def test_a_bare_name_is_found_beside_our_own_interpreter(provider: Provider, tmp_path: Path) -> None:
    provider.argv = [Path(sys.executable).name, "-S", "embed.py"]
    provider.configure()
    empty = tmp_path / "empty"
    empty.mkdir()
    assert provider.project.with_env(PATH=str(empty)).ask_natively() == "built"


def test_every_text_is_sent_as_it_is(provider: Provider, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    provider.write(
        f"request = read(); open({str(seen)!r}, 'w').write(json.dumps(request['texts'])); say(good(request))"
    )
    provider.project.write_store([make_episode(1, 'naïve ☃ 𝒳\n\t"quoted" \\ \x7f', tags=[])])
    assert provider.project.ask_natively(query="ünïcode 🐍 query") == "built"
    assert json.loads(seen.read_text()) == ['\nnaïve ☃ 𝒳\n\t"quoted" \\ \x7f', "ünïcode 🐍 query"]
