"""What the tests share: a project under test and its doors, what stands in its files, and rights taken away."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import testlore
from testlore import canonical, engines, schemas
from testlore.cache import FOLDER, Cache
from testlore.memory import store

REPOSITORY = Path(testlore.__file__).resolve().parents[2]
DATA = Path(__file__).resolve().parent / "data"
ENGINES = {name: engines.engine(name) for name in engines.NAMES}
DOORS = ("testlore", "doit")
QUERY = "zero boundary"
PLUGIN = {"enabled": True, "dimensions": 128, "timeoutMs": 10_000, "embedding": {"mode": "feature-vectors"}}
#: The two files that each engine's index is made of.
INDEX_FILES = {name: (engine.DATABASE, engine.METADATA) for name, engine in ENGINES.items()}
#: The tasks of the graph, in order.
GRAPH = ["validate", "key", "embed", "index", "query", "recall"]
_SECONDS = 60
_PR_CAPBSET_DROP = 24
_NOBODY = 65534
_FALLBACK = "RuVector fallback: "

Done = subprocess.CompletedProcess[str]
Json = dict[str, Any]


class Project:
    """A project with a memory, and the two doors to ask it: the ``testlore`` command and doit.

    Args:
        root: its folder.
        env: what its processes get beside our own environment.
        before: what a process does before it becomes the program, such as giving up rights.
        runtime: the ``plugins.ruvector.runtime`` of its engine.
    """

    def __init__(
        self,
        root: Path,
        env: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
        runtime: str = "python",
    ) -> None:
        self.root = root
        self.env = dict(env or {})
        self.before = before
        self.runtime = runtime

    @property
    def store(self) -> Path:
        return self.root / store.INDEX_FILE

    @property
    def cache(self) -> Path:
        return self.root / ".tddswarm/learning/ruvector"

    @property
    def database(self) -> Path:
        return self.cache / INDEX_FILES[self.runtime][0]

    @property
    def metadata(self) -> Path:
        return self.cache / INDEX_FILES[self.runtime][1]

    def with_env(self, **env: str) -> Project:
        return Project(self.root, {**self.env, **env}, self.before, self.runtime)

    def confined(self, before: Callable[[], None]) -> Project:
        return Project(self.root, self.env, before, self.runtime)

    def moved(self, root: Path) -> Project:
        """A copy elsewhere, as a fresh clone with a restored cache is: other inodes, and new times."""
        shutil.copytree(self.root, root, symlinks=True, copy_function=shutil.copyfile)
        return Project(root, self.env, self.before, self.runtime)

    def copied(self, root: Path) -> Project:
        """A copy elsewhere whose files have the same times; links stay links."""
        shutil.copytree(self.root, root, symlinks=True)
        return Project(root, self.env, self.before, self.runtime)

    def configure(self, plugin: Json | None = None, **others: Any) -> None:
        """Write the configuration: the usual plugin with these changes, and other keys."""
        engine = {} if self.runtime == "python" else {"runtime": self.runtime}
        config = {"adapter": "node", "plugins": {"ruvector": {**PLUGIN, **engine, **(plugin or {})}}, **others}
        (self.root / "tddswarm.config.json").write_text(json.dumps(config))

    def records(self) -> list[Json]:
        records: list[Json] = json.loads(self.store.read_bytes())["records"]
        return records

    def write_store(self, records: list[Json], path: Path | None = None, **others: Any) -> None:
        """Seal and write a store of these records, newest first."""
        self.store.parent.mkdir(parents=True, exist_ok=True)
        value = {"schemaVersion": 1, "records": sorted(records, key=store.newest_first), **others}
        (path or self.store).write_bytes(canonical.to_bytes(canonical.pretty(canonical.seal(value))))

    def change_one_episode(self) -> None:
        """Change the newest record, and seal everything again."""
        newest, *others = self.records()
        self.write_store([canonical.seal({**newest, "tags": ["async"]}), *others])

    def run(self, *argv: str, **options: Any) -> Done:
        env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        given: dict[str, Any] = {
            "cwd": self.root,
            "env": {**env, **self.env},
            "preexec_fn": self.before,
            "capture_output": True,
            "text": True,
            "encoding": "utf-8",
            "timeout": _SECONDS,
        }
        return subprocess.run(argv, **{**given, **options})

    def python(self, *argv: str, **options: Any) -> Done:
        return self.run(sys.executable, *argv, **options)

    def testlore(self, *argv: str, **options: Any) -> Done:
        return self.python("-m", "testlore", *argv, **options)

    def doit(self, *argv: str, **options: Any) -> Done:
        dodo = str(REPOSITORY / "dodo.py")
        return self.python("-m", "doit", *doit_argv(argv, dodo), f"root={self.root}", **options)

    def recall(self, door: str = "testlore", query: str = QUERY, **options: Any) -> Done:
        """Ask for JSON through a door."""
        if door == "doit":
            return self.doit("recall", f"query={query}", "format=json", **options)
        return self.testlore("recall", "--query", query, "--json", **options)

    def ask(self, door: str = "testlore", query: str = QUERY, status: int = 0) -> Json:
        """Ask, and hold the answer to what every answer must be: valid, one line, and the store left as it was."""
        before = content(self.store)
        done = self.recall(door, query)
        assert done.returncode == status, done.stderr
        assert done.stdout.endswith("\n"), done.stderr
        assert done.stdout.count("\n") == 1
        assert "Traceback" not in done.stderr
        answer: Json = json.loads(done.stdout)
        assert schemas.first_problem("answer", answer) is None
        assert content(self.store) == before
        return answer

    def ask_natively(self, door: str = "testlore", query: str = QUERY) -> str:
        """Ask, see that the native engine answered, and tell whether its index was built or reused."""
        answer = self.ask(door, query)
        assert answer["retrieval"] == "ruvector", answer["warnings"]
        assert answer["records"]
        cache: str = answer["retrievalDetails"]["cache"]
        return cache


def skipped(done: Done) -> list[str]:
    """The tasks that doit found up to date."""
    return [line[3:] for line in done.stderr.splitlines() if line.startswith("-- ")]


def ran(done: Done) -> list[str]:
    """The tasks that doit ran."""
    return [line[3:] for line in done.stderr.splitlines() if line.startswith(".  ")]


def golden(name: str, target: Path) -> Path:
    """A project of the test data as it was committed: whoever tried it out left a derived cache in it."""
    return Path(shutil.copytree(DATA / name, target, symlinks=True, ignore=shutil.ignore_patterns("ruvector")))


def doit_argv(argv: tuple[str, ...], dodo: str) -> list[str]:
    """Doit wants its command first, then ``-f``, and takes a task's name for the command ``run``."""
    commands = ("run", "list", "info", "clean", "forget")
    if argv and argv[0] in commands:
        return [argv[0], "-f", dodo, *argv[1:]]
    return ["run", "-f", dodo, *argv]


def falls_back(project: Project, expected: str, lexical_ids: list[str], doors: Sequence[str] = DOORS) -> None:
    """Ask through the doors, and see that it answers what a disabled plugin would, and says why."""
    for door in doors:
        answer = project.ask(door)
        assert answer["retrieval"] == "deterministic-lexical"
        assert ids(answer) == lexical_ids
        assert word(answer) == expected, answer["warnings"]


def word(answer: Json) -> str:
    """The word that says why recall fell back, or nothing."""
    found = [warning[len(_FALLBACK) :] for warning in answer.get("warnings", []) if warning.startswith(_FALLBACK)]
    assert len(found) <= 1
    return found[0].partition(":")[0] if found else ""


def ids(answer: Json) -> list[str]:
    return [record["id"] for record in answer["records"]]


def content(path: Path) -> bytes | str | None:
    """A file's bytes, a link's target, or what else stands there in a word."""
    if path.is_symlink():
        return f"link to {os.readlink(path)}"
    if path.is_file():
        return path.read_bytes()
    return "not a file" if path.exists() else None


class State(NamedTuple):
    """What tells whether a file is the very one that it was."""

    inode: int
    mtime: int
    content: bytes | str | None


def state(path: Path) -> State:
    found = path.lstat()
    return State(found.st_ino, found.st_mtime_ns, content(path))


def states(folder: Path) -> dict[str, State]:
    """Every file below a folder, without doit's own database and the lock, which hold nothing of ours."""
    return {
        str(path.relative_to(folder)): state(path)
        for path in sorted(folder.rglob("*"))
        if not path.name.startswith(("doit.sqlite3", "testlore.lock")) and (path.is_symlink() or not path.is_dir())
    }


def seal_file(path: Path, **changes: Any) -> None:
    """Change keys of a sealed JSON file, and seal it anew; a file of the cache gets this machine's mark again too."""
    value = {**json.loads(path.read_bytes()), **changes}
    if value.pop("mark", None) is None:
        path.write_text(canonical.dumps(canonical.seal(value)))
    else:
        del value["integrity"]
        Cache(str(path.parents[len(FOLDER.split("/"))])).write_sealed(path.name, value)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet waited for does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
        return status.rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(question: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not question():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def hanging(folder: Path) -> str:
    """A script that ignores the signals that it can, has a child that does so too, and tells :func:`pids` of both."""
    return (
        "import os, signal, time\n"
        "for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        "if child:\n"
        f"    open({str(folder / 'new')!r}, 'w').write(f'{{os.getpid()}} {{child}}')\n"
        f"    os.rename({str(folder / 'new')!r}, {str(folder / 'pids')!r})\n"
        "time.sleep(600)\n"
    )


def pids(folder: Path) -> list[int]:
    """The ids of the processes of :func:`hanging`, once they are there."""
    assert wait_until((folder / "pids").exists)
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def without_powers() -> None:
    """Give up root for good: every capability goes with the next program, so that permissions bind it.

    A change of user would do too, but then the interpreter may lie where only root can reach it.
    """
    if os.geteuid() or not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) and ctypes.get_errno() != errno.EINVAL:
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
            return


def cannot_write(project: Project, folder: Path) -> Project:
    """The project for somebody who, as is made sure of, may write nothing into the folder."""
    bound = project.confined(without_powers)
    assert bound.python("-c", f"open({str(folder / 'probe')!r}, 'w')").returncode
    return bound


def with_files_up_to(size: int) -> Callable[[], None]:
    """Let no process write beyond this many bytes of a file, as on a disk that is full."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def libraries_without(name: str, folder: Path) -> str:
    """A folder of links to all that is installed but one package, to be the only one that is searched."""
    folder.mkdir()
    for entry in map(Path, sys.path):
        if entry.name in ("site-packages", "dist-packages") and entry.is_dir():
            for path in entry.iterdir():
                link = folder / path.name
                if not path.name.startswith(name) and not link.exists():
                    link.symlink_to(path)
    return f"{folder}{os.pathsep}{REPOSITORY / 'pipeline'}"
