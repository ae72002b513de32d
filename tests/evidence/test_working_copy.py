"""A run cannot tell that its copy was another run's before: whatever that one did to it is undone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from evidence_helpers import (
    CALC,
    NODE_SOURCE,
    PYTEST_ORIGINAL,
    defect,
    make_project,
    patch,
    pytest_project,
    stage_and_validate,
    write,
)
from helpers import wait_until, without_powers
from testlore.errors import Refusal
from testlore.evidence import bench, copies, traces
from testlore.evidence.working_copy import WorkingCopy
from testlore.project.snapshot import Scan

FILES = {
    "calc.py": CALC,
    "empty.py": "",
    "run.sh": "#!/bin/sh\n",
    "package/__init__.py": "",
    "package/deep/data.txt": "data\n",
    "tests/test_calc.py": PYTEST_ORIGINAL,
}

#: What a run does in its copy. It knows the copy's folder as the current one, and ``outside``, a folder elsewhere.
TRICKS = {
    "writes into a file": "open('calc.py', 'a').write('more')",
    "empties a file": "open('calc.py', 'w')",
    "writes the same number of bytes and restores the times": """
        before = os.stat('calc.py')
        data = open('calc.py').read()
        open('calc.py', 'r+').write(data.swapcase())
        os.utime('calc.py', ns=(before.st_atime_ns, before.st_mtime_ns))
    """,
    "writes through a memory map and restores the times": """
        import mmap
        before = os.stat('calc.py')
        with open('calc.py', 'r+b') as file, mmap.mmap(file.fileno(), 0) as mapped:
            mapped[:3] = b'DEF'
        os.utime('calc.py', ns=(before.st_atime_ns, before.st_mtime_ns))
    """,
    "puts another file of the same size and times in its place": """
        before = os.stat('calc.py')
        open('other', 'w').write(open('calc.py').read().swapcase())
        os.utime('other', ns=(before.st_atime_ns, before.st_mtime_ns))
        os.rename('other', 'calc.py')
    """,
    "swaps two files": """
        os.rename('empty.py', 'x'), os.rename('package/__init__.py', 'empty.py'), os.rename('x', 'package/__init__.py')
    """,
    "deletes a source": "os.unlink('calc.py')",
    "deletes a folder": "shutil.rmtree('package')",
    "deletes everything": "[shutil.rmtree(x) if os.path.isdir(x) else os.unlink(x) for x in os.listdir('.')]",
    "deletes the copy itself": "shutil.rmtree(os.getcwd())",
    "moves the copy itself": "os.rename(os.getcwd(), os.getcwd() + '.moved')",
    "puts a link in the copy's place": "at = os.getcwd(); os.rename(at, outside + '/was'), os.symlink(outside, at)",
    "renames a folder": "os.rename('package', 'renamed')",
    "makes a file a folder": "os.unlink('calc.py'), os.mkdir('calc.py'), open('calc.py/x', 'w')",
    "makes a folder a file": "shutil.rmtree('package'), open('package', 'w')",
    "makes a folder a link to elsewhere": """
        shutil.move('package', outside + '/package'), os.symlink(outside + '/package', 'package')
    """,
    "makes a file a link to elsewhere": "os.rename('calc.py', outside + '/c'), os.symlink(outside + '/c', 'calc.py')",
    "links a file to elsewhere": "os.link('calc.py', outside + '/hard')",
    "leaves links": "os.symlink('/', 'root'), os.symlink('nowhere', 'package/dangling'), os.link('calc.py', 'again')",
    "leaves compiled files": "import compileall; compileall.compile_dir('.', quiet=1)",
    "leaves files and folders": "os.makedirs('new/deep'), open('new/deep/x', 'w'), open('package/deep/new', 'w')",
    "leaves a pipe": "os.mkfifo('pipe')",
    "leaves packages": "os.makedirs('node_modules/x'), open('node_modules/x/index.js', 'w')",
    "makes folders read-only": "os.chmod('package/deep', 0o500), os.chmod('package', 0o500), os.chmod('.', 0o500)",
    "makes what it leaves read-only": "os.makedirs('new/deep'), open('new/deep/x', 'w'), os.chmod('new/deep', 0o500)",
    "takes every right away": "os.chmod('package/deep', 0), os.chmod('package', 0), os.chmod('calc.py', 0)",
    "takes every right from what it leaves": "os.makedirs('new/deep/er'), os.chmod('new/deep', 0), os.chmod('new', 0)",
    "makes a file executable": "os.chmod('calc.py', 0o755)",
    "makes a file no longer executable": "os.chmod('run.sh', 0o644)",
    "gives a folder other rights": "os.chmod('package', 0o777), os.chmod('tests', 0o2755)",
}


class Entry(NamedTuple):
    mode: int
    content: bytes | str


def listing(folder: Path) -> dict[str, Entry]:
    """All that a run can see of its copy, but times."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        mode = path.lstat().st_mode
        content: bytes | str = b""
        if stat.S_ISLNK(mode):
            content = os.readlink(path)
        elif stat.S_ISREG(mode):
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = Entry(mode, content)
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_project(tmp_path / "shop", FILES)
    (root / "run.sh").chmod(0o755)
    (root / "alias.py").symlink_to("calc.py")
    (root / "package/up").symlink_to("../tests")
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def working_copy(root: Path, folder: Path) -> WorkingCopy:
    return WorkingCopy(str(root), str(folder), Scan(str(root), ()).snapshot().files())


#: Runs a trick in a copy, and then prepares the same copy for the next run.
TWO_RUNS = """
import json, subprocess, sys
from testlore.evidence import traces
from testlore.evidence.working_copy import WorkingCopy
from testlore.project.snapshot import Scan
root, folder, trick = sys.argv[1:]
if {by_content}:
    traces.shows_mapped_writes = lambda probe: False
copy = WorkingCopy(root, folder, Scan(root, ()).snapshot().files())
first = copy.prepare("first", {{}}, [])
subprocess.run([sys.executable, "-c", trick], cwd=first, check=True)
copy.prepare("second", {{}}, [])
"""


@pytest.mark.parametrize("by_content", [False, True], ids=["by state", "by content"])
@pytest.mark.parametrize("trick", TRICKS)
def test_nothing_that_a_run_does_to_its_copy_reaches_the_next(
    root: Path, folder: Path, tmp_path: Path, trick: str, by_content: bool
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    script = f"import os, shutil\noutside = {str(outside)!r}\n{textwrap.dedent(TRICKS[trick])}"
    done = subprocess.run(
        [sys.executable, "-c", TWO_RUNS.format(by_content=by_content), str(root), str(folder), script],
        preexec_fn=without_powers,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (tmp_path / "fresh").mkdir()
    fresh = Path(working_copy(root, tmp_path / "fresh").prepare("copy", {}, []))
    assert listing(folder / "second" / root.name) == listing(fresh)
    assert not os.path.lexists(folder / "first")


def test_what_a_run_left_alone_is_not_copied_again(root: Path, folder: Path) -> None:
    copy = working_copy(root, folder)
    first = Path(copy.prepare("first", {"calc.py": b"broken", "tests/test_new.py": b"new"}, ["empty.py"]))
    before = {path: (first / path).stat().st_ino for path in FILES if path not in ("calc.py", "empty.py")}
    assert (first / "calc.py").read_bytes() == b"broken"
    assert not (first / "empty.py").exists()
    second = Path(copy.prepare("second", {}, []))
    assert {path: (second / path).stat().st_ino for path in before} == before
    assert (second / "calc.py").read_text() == CALC
    assert (second / "empty.py").read_text() == ""
    assert not (second / "tests/test_new.py").exists()
    assert not first.exists()


def test_a_change_by_the_candidate_is_undone_even_if_it_leaves_no_trace(root: Path, folder: Path) -> None:
    copy = working_copy(root, folder)
    same_size = CALC.swapcase().encode()
    first = Path(copy.prepare("first", {"calc.py": same_size}, []))
    assert (first / "calc.py").read_bytes() == same_size
    assert (Path(copy.prepare("second", {}, [])) / "calc.py").read_text() == CALC


def test_a_source_that_changed_in_the_project_cannot_be_put_back(root: Path, folder: Path) -> None:
    copy = working_copy(root, folder)
    copy.prepare("first", {"calc.py": b"broken"}, [])
    write(root, {"calc.py": CALC + "# more\n"})
    with pytest.raises(Refusal, match=r"provenance-changed: calc\.py changed while the suites ran"):
        copy.prepare("second", {}, [])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells which processes are left")
def test_a_process_that_outlives_its_run_gets_no_access_to_the_next_copy(root: Path, folder: Path) -> None:
    copy = working_copy(root, folder)
    first = copy.prepare("first", {}, [])
    daemon = "import time, os\nfor _ in range(3000):\n    open('late', 'a'), open(os.path.abspath('calc.py'), 'a')\n"
    daemon += "    time.sleep(0.01)"
    process = subprocess.Popen([sys.executable, "-c", daemon], cwd=first, start_new_session=True)
    try:
        assert wait_until((Path(first) / "late").exists)
        inode = (Path(first) / "tests/test_calc.py").stat().st_ino
        second = Path(copy.prepare("second", {}, []))
        assert (second / "tests/test_calc.py").stat().st_ino != inode or not Path(first).exists()
        assert not (second / "late").exists()
    finally:
        process.kill()
        process.wait()
    assert not (second / "late").exists()


@pytest.mark.parametrize("leave", ["os.environ['TESTLORE_RUN']", "os.getcwd()"])
def test_a_process_that_left_its_group_is_known_by_its_environment_or_its_folder(folder: Path, leave: str) -> None:
    environment = {**os.environ, "TESTLORE_RUN": str(folder / "x.run")} if "environ" in leave else None
    where = folder if environment is None else Path("/")
    assert not traces.anything_runs(str(folder))
    process = subprocess.Popen(
        [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"],
        cwd=where,
        env=environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert traces.anything_runs(str(folder))
    process.kill()
    process.communicate()
    assert not traces.anything_runs(str(folder))


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="there are no extended attributes")
def test_a_folder_that_got_an_extended_attribute_is_copied_anew(root: Path, folder: Path) -> None:
    copy = working_copy(root, folder)
    first = copy.prepare("first", {}, [])
    try:
        os.setxattr(f"{first}/package", "user.note", b"x")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    second = copy.prepare("second", {}, [])
    assert os.listxattr(f"{second}/package") == os.listxattr(root)


def test_links_to_packages_lead_to_the_copy_of_each_run(tmp_path: Path, folder: Path) -> None:
    files = {
        ".gitignore": "node_modules/\n",
        "packages/calc/index.js": NODE_SOURCE,
        "node_modules/ten/index.js": "export const ten = 10;\n",
    }
    root = make_project(tmp_path / "shop", files)
    (root / "node_modules/calc").symlink_to("../packages/calc")
    copy = working_copy(root, folder)
    for name in ("first", "second"):
        at = Path(copy.prepare(name, {}, []))
        assert os.readlink(at / "node_modules/calc") == str(at / "packages/calc")
        assert os.readlink(at / "node_modules/ten") == str(root / "node_modules/ten")


def test_every_source_is_copied_once_and_only_what_runs_changed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = pytest_project(tmp_path / "shop", **{f"data/{number}.txt": "x" for number in range(300)})
    copied = []
    copy_file = copies.copy_file

    def counting(source: str, *others: Any) -> Any:
        copied.append(os.path.relpath(source, root))
        return copy_file(source, *others)

    monkeypatch.setattr(copies, "copy_file", counting)
    monkeypatch.setattr(bench, "_processors", lambda: 1)
    ended = stage_and_validate(root, patch(heldOutDefects=[defect()]))
    assert ended.outcome == "accepted", ended.output
    assert len(set(copied)) == 303
    assert copied[303:] == ["calc.py"] * 3  # four runs with the defect changed it; the last copy is thrown away


def test_a_test_that_spoils_the_copy_does_not_spoil_the_next_run(tmp_path: Path) -> None:
    spoiling = (
        PYTEST_ORIGINAL
        + """
def test_it():
    import os, pathlib, shutil
    here = pathlib.Path(__file__).parents[1]
    assert sorted(path.name for path in here.iterdir()) == ["calc.py", "tddswarm.config.json", "tests"]
    assert "return max" in (here / "calc.py").read_text() or "max(-9" in (here / "calc.py").read_text()
    state = os.stat(here / "calc.py")
    (here / "calc.py").write_text("x" * state.st_size)
    os.utime(here / "calc.py", ns=(state.st_atime_ns, state.st_mtime_ns))
    (here / "conftest.py").write_text("raise SystemExit")
    (here / "calc").symlink_to("/")
    shutil.rmtree(here / "tests")
    here.chmod(0o500)
"""
    )
    root = make_project(tmp_path / "shop", {"calc.py": CALC, "tests/test_calc.py": spoiling}, {"adapter": "pytest"})
    ended = stage_and_validate(root, patch(heldOutDefects=[defect()]))
    assert (ended.outcome, ended.reasons, ended.output) == ("accepted", [], "")
