"""What workers are shown of a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agents_helpers import REQUIREMENTS, shop, write
from testlore import canonical, frameworks
from testlore.agents import context


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return shop(tmp_path / "shop", None).root


def shown(root: Path) -> dict[str, str]:
    return {one["file"]: one["content"] for one in context.collect(str(root), REQUIREMENTS).files}


def test_source_and_test_files_are_shown_and_nothing_else(root: Path) -> None:
    for path in ("README.md", "package.json", "data.csv", "ignored.py", "node_modules/x/index.js"):
        write(root / path, "x = 1\n")
    write(root / ".gitignore", "ignored.py\n")
    (root / "link.py").symlink_to(root / "calc.py")
    (root / "binary.py").write_bytes(b"\xff\xfe\x00")
    assert list(shown(root)) == ["calc.py", "tests/test_calc.py"]


@pytest.mark.parametrize(
    "path",
    [
        *(".env", ".env.py", ".env.local.js", "server.pem", "id_rsa", "id_ed25519.py", "credentials.py"),
        *("config/credentials-live.ts", "secrets.py", "secrets/loader.py", "Secrets.js", "aws_credentials.py"),
        *("client_secret.js", ".aws/config.py", ".ssh/x.py", "tests/secrets_of_test.py", "prod.env"),
    ],
)
def test_files_whose_names_speak_of_secrets_are_not_shown(root: Path, path: str) -> None:
    write(root / path, "TELLTALE = 1\n")
    found = context.collect(str(root), REQUIREMENTS)
    assert "TELLTALE" not in json.dumps(found.files)
    assert [one["file"] for one in found.files] == ["calc.py", "tests/test_calc.py"]


def test_files_that_only_sound_alike_are_shown(root: Path) -> None:
    for path in ("environment.py", "tokenizer.py", "secretary.py", "keys.py"):
        write(root / path, "x = 1\n")
    assert {"environment.py", "tokenizer.py", "secretary.py", "keys.py"} < shown(root).keys()


@pytest.mark.parametrize(
    "line",
    [
        'API_KEY = "TELLTALE-1234"',
        'password: "TELLTALE-1234",',
        'url = "postgres://admin:TELLTALE@db/main"',
        'headers = {"Authorization": "Bearer TELLTALE1234567"}',
        "-----BEGIN RSA PRIVATE KEY-----\nTELLTALE\n-----END RSA PRIVATE KEY-----",
        "key = 'sk_live_TELLTALE12345678'",
    ],
)
def test_what_looks_like_a_secret_is_masked_and_named(root: Path, line: str) -> None:
    write(root / "client.py", f"before = 1\n{line}\nafter = 2\n")
    found = context.collect(str(root), REQUIREMENTS)
    [client] = [one["content"] for one in found.files if one["file"] == "client.py"]
    assert "TELLTALE" not in client
    assert "before = 1" in client
    assert "after = 2" in client
    assert found.masked == ["client.py"]


def test_a_long_line_without_words_costs_no_time(root: Path) -> None:
    write(root / "blob.js", "export default '" + "QUJD" * 40_000 + "';\n")
    assert "blob.js" in shown(root)


def test_the_context_has_room_for_256_kib_of_json_and_is_the_same_each_time(root: Path) -> None:
    for number in range(30):
        write(root / f"part{number:02}.py", "# é\n" * 3_000)
        write(root / f"tests/test_part{number:02}.py", "# é\n" * 3_000)
    write(root / "huge.py", "#" * 300_000)
    found = context.collect(str(root), "clamp calc")
    size = len(canonical.to_bytes(canonical.dumps(found.files)))
    assert 200_000 < size <= 256 * 1024
    assert found == context.collect(str(root), "clamp calc")
    names = [one["file"] for one in found.files]
    assert {"calc.py", "tests/test_calc.py"} < set(names)
    tests = sum(name.startswith("tests/") for name in names)
    assert abs(2 * tests - len(names)) <= 2
    assert "huge.py" in found.dropped
    assert set(found.dropped).isdisjoint(names)


@pytest.mark.parametrize(
    ("path", "framework", "expected"),
    [
        ("tests/test_a.py", "pytest", True), ("src/a.test.ts", "vitest", True), ("calc.py", "custom", False),
        ("pkg/a_test.go", "custom", True), ("pkg/a_test.go", "pytest", False), ("spec/a_spec.rb", "custom", True),
        ("src/FooTest.java", "custom", True), ("latest.go", "custom", False), ("contest.rb", "custom", False),
        ("tests/data.json", "custom", False),
    ],
)  # fmt: skip
def test_a_tests_path_is_told_by_the_framework(path: str, framework: str, expected: bool) -> None:
    assert context.is_test(path, frameworks.framework(framework)) == expected
