"""The stand-in for the ``ruvector`` wheel, and what it can do wrong."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from helpers import Project, golden
from stand_in import CORRUPT, FAILED, INVALID, NOT_LOADED, NOT_THE_API, NOTHING_FOUND, Fault, StandIn

_LOADING = {
    "does not import": Fault("raise ImportError('undefined symbol')", NOT_LOADED),
    "raises at import": Fault("1 / 0", NOT_LOADED),
    "has no store": Fault("del RvfStore", NOT_THE_API),
    "has no query": Fault("del RvfStore.query", NOT_THE_API),
    "exits": Fault("os._exit(3)", FAILED),
    "leaves by SystemExit": Fault("raise SystemExit(4)", FAILED),
    "leaves without an answer": Fault("os._exit(0)", INVALID),
    "crashes by a signal": Fault("import signal; os.kill(os.getpid(), signal.SIGSEGV)", FAILED),
    "aborts": Fault("os.abort()", FAILED),
    "prints a banner": Fault("print('RuVector!', flush=True)", INVALID),
    "prints bytes that are no text": Fault("os.write(1, bytes([255])); os._exit(0)", INVALID),
    "prints a list": Fault("os.write(1, b'[]'); os._exit(0)", INVALID),
    "prints too much": Fault("os.write(1, bytes(2 << 20)); os._exit(0)", INVALID),
    "nests too deeply": Fault(
        "os.write(1, b'[' * 50_000 + b']' * 50_000); os._exit(0)",
        INVALID,
    ),
    "nests deeply": Fault(
        "os.write(1, b'{\"error\": ' + b'[' * 900 + b']' * 900 + b'}'); os._exit(0)",
        FAILED,
    ),
    "names an unknown error": Fault('os.write(1, b\'{"error": "on-fire"}\'); os._exit(0)', FAILED),
    "is terminated": Fault("import signal; os.kill(os.getpid(), signal.SIGTERM)", FAILED),
}

_SEARCHING = {
    "fabricates a row": Fault("found[0] = (999, 0.1)", INVALID),
    "fabricates a negative row": Fault("found[0] = (-1, 0.1)", INVALID),
    "doubles a row": Fault("found[1] = found[0]", INVALID),
    "appends a double": Fault("found.append(found[0])", INVALID),
    "answers NaN": Fault("found[0] = (found[0][0], float('nan'))", INVALID),
    "answers infinity": Fault("found[0] = (found[0][0], float('inf'))", INVALID),
    "answers a distance too far": Fault("found[0] = (found[0][0], 4.1)", INVALID),
    "answers a negative distance": Fault("found[0] = (found[0][0], -0.1)", INVALID),
    "names a row by a truth value": Fault("found[0] = (True, 0.1)", INVALID),
    "names a row by a fraction": Fault("found[0] = (1.0, 0.1)", INVALID),
    "leaves out a row": Fault("del found[0]", INVALID),
    "finds nothing": Fault("found.clear()", NOTHING_FOUND),
    "fails": Fault("raise RuntimeError('broken')", FAILED),
    "crashes": Fault("os.kill(os.getpid(), 11)", FAILED),
    "answers a number beyond all floats": Fault(
        "os.write(1, b'{\"count\": 7, \"hits\": [[0, 1' + b'0' * 400 + b']]}'); os._exit(0)",
        INVALID,
    ),
    "answers no list": Fault(
        'os.write(1, b\'{"count": 7, "hits": {}}\'); os._exit(0)',
        INVALID,
    ),
}

_BUILDING = {
    "writes no file": Fault("os.write(1, b'{\"count\": 7}'); os._exit(0)", INVALID),
    "counts wrong": Fault("RvfStore.status = lambda self: {'total_vectors': 6}", INVALID),
    "fails to create": Fault("RvfStore.create = lambda path, size: 1 / 0", FAILED),
    "crashes while it ingests": Fault("RvfStore.ingest = lambda self, *rows: os.abort()", FAILED),
}

_HANG = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open({pids!r}, "a") as file:
    file.write(f"{{os.getpid()}} {{child.pid}} ")
"""

_SEALED = {"half": CORRUPT, "nothing": FAILED, "garbage": FAILED}


class WheelStandIn(StandIn):
    """A package ``ruvector`` that is found before the real one.

    Args:
        folder: where to make it.
    """

    RUNTIME = "python"
    LOADING = _LOADING
    SEARCHING = _SEARCHING
    BUILDING = _BUILDING
    SEALED = _SEALED
    SHORT_MS = 500

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "ruvector/fault.py")
        self.folder = folder
        package, info = folder / "ruvector", folder / "ruvector-0.1.4.dist-info"
        package.mkdir(parents=True)
        info.mkdir()
        self.record = info / "RECORD"
        self.record.write_text("ruvector/_native.py,,\n")
        (package / "__init__.py").write_text("")
        (package / "_native.py").write_text(_MODULE.format(native=str(native_module())))

    @property
    def env(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.folder)}

    def project(self, root: Path) -> Project:
        return self.answering(Project(golden("till", root)))

    def answering(self, project: Project) -> Project:
        return project.with_env(**self.env)

    @staticmethod
    def in_search(code: str) -> str:
        return (
            "def query(self, vector, k):\n"
            "    found = list(self._store.query(vector, k))\n"
            f"    {code}\n"
            "    return found\n"
            "RvfStore.query = query\n"
        )

    @staticmethod
    def hanging(pids: Path, where: str) -> str:
        hang = _HANG.format(pids=str(pids)) + "time.sleep(60)\n"
        if where == "load":
            return hang
        method = "def hang(*_):\n" + "".join(f"    {line}\n" for line in hang.splitlines() if line)
        return f"{method}RvfStore.{'ingest' if where == 'build' else 'query'} = hang"

    @staticmethod
    def leaving_a_child(pids: Path) -> str:
        return _HANG.format(pids=str(pids))


def native_module() -> Path:
    """The compiled module of the installed wheel."""
    spec = find_spec("ruvector")
    assert spec is not None, "the tests need the real engine: pip install 'testlore-recall[ruvector]'"
    assert spec.submodule_search_locations is not None
    return next(
        path for path in Path(next(iter(spec.submodule_search_locations))).iterdir() if path.stem[:7] == "_native"
    )


_MODULE = """
import importlib.machinery, importlib.util, os

_path = {native!r}
_loader = importlib.machinery.ExtensionFileLoader("_native", _path)
_real = importlib.util.module_from_spec(importlib.util.spec_from_file_location("_native", _path, loader=_loader))
_loader.exec_module(_real)


class RvfStore:
    def __init__(self, store):
        self._store = store

    @staticmethod
    def create(path, dimension):
        return RvfStore(_real.RvfStore.create(path, dimension))

    @staticmethod
    def open(path, read_only):
        return RvfStore(_real.RvfStore.open(path, read_only))

    @property
    def dimension(self):
        return self._store.dimension

    def ingest(self, vectors, ids):
        return self._store.ingest(vectors, ids)

    def query(self, vector, k):
        return self._store.query(vector, k)

    def status(self):
        return self._store.status()

    def close(self):
        self._store.close()


_fault = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fault.py")
if os.path.exists(_fault):
    with open(_fault) as file:
        exec(file.read())
"""
