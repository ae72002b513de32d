"""``tddswarm.config.json`` as a frozen value."""

from __future__ import annotations

from typing import Any, NamedTuple

from testlore import canonical, schemas
from testlore.errors import Unusable
from testlore.project import safe_files

CONFIG_FILE = "tddswarm.config.json"
MAX_BYTES = 1 << 20

#: The embedding command that this package brings along; it needs nobody's trust.
OWN_EMBEDDING_COMMAND = "testlore-embed"

_PLUGIN = ("plugins", "ruvector")


class Settings(NamedTuple):
    """What the configuration says. The defaults stand here, and nowhere else in the code.

    Attributes:
        config_digest: the digest of the file's bytes; empty when there is no file.
        learning: false overrides every plugin.
        enabled: whether native recall is wanted.
        plugin_problem: what is wrong inside ``plugins.ruvector``, or empty.
        dimensions: the length of the vectors, 16–2048.
        timeout_ms: how long a native call may take, 100–60000 ms.
        embedding: ``feature-vectors`` or ``command``.
        argv, identity: the embedding command and its name.
        runtime: the native engine, ``python`` or ``node``.
        adapter: the test framework; empty when it is not configured.
        runner, agent: commands as lists of arguments; empty when they are not configured.
        environment, services: labels by name.
        run_seconds: how long one run of a test suite may take, 1–86400 s.
        repeats: how often a candidate's new cases are run again, 1–20.
        mutants: how many mutants are tried at most, 0–200.
    """

    config_digest: str = ""
    learning: bool = True
    enabled: bool = False
    plugin_problem: str = ""
    dimensions: int = 128
    timeout_ms: int = 10_000
    embedding: str = "feature-vectors"
    argv: tuple[str, ...] = ()
    identity: str = ""
    runtime: str = "python"
    adapter: str = ""
    runner: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    environment: dict[str, str] = {}  # noqa: RUF012
    services: dict[str, str] = {}  # noqa: RUF012
    run_seconds: int = 600
    repeats: int = 3
    mutants: int = 10

    @property
    def is_native(self) -> bool:
        """Whether native recall is wanted, and nothing is wrong with its settings."""
        return self.enabled and not self.plugin_problem


def read(root: str) -> bytes:
    """The bytes of the configuration; empty only when there is no such file.

    Raises:
        Unusable: ``configuration-invalid``: it cannot be read.
    """
    try:
        data = safe_files.read_file(root, CONFIG_FILE, MAX_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Unusable("configuration-invalid", safe_files.why_unread(CONFIG_FILE, error)) from None
    if len(data) > MAX_BYTES:
        raise Unusable("configuration-invalid", f"{CONFIG_FILE} is larger than {MAX_BYTES} bytes")
    return data or b" "


def parse(data: bytes, *, known_valid: bool = False) -> Settings:
    """Turn the configuration's bytes into settings.

    A wrong value inside ``plugins.ruvector`` is no error: ``plugin_problem`` says what it is, and recall is lexical.

    Args:
        data: the file's bytes; empty when there is no file.
        known_valid: whether these very bytes were checked against the schema before.

    Raises:
        Unusable: ``configuration-invalid``, naming the key, what it was, and what is allowed.
    """
    if not data:
        return Settings()
    try:
        config = canonical.loads(data)
    except ValueError as error:
        raise Unusable("configuration-invalid", f"{CONFIG_FILE} is not JSON: {error}") from None
    plugin_problem = "" if known_valid else _check(config)
    plugin = {} if plugin_problem else config.get("plugins", {}).get("ruvector", {})
    embedding = plugin.get("embedding", {})
    default = Settings()
    return Settings(
        config_digest=canonical.digest(data),
        learning=config.get("learning", {}).get("enabled", default.learning),
        enabled=plugin.get("enabled", default.enabled),
        plugin_problem=plugin_problem,
        dimensions=int(plugin.get("dimensions", default.dimensions)),
        timeout_ms=int(plugin.get("timeoutMs", default.timeout_ms)),
        embedding=embedding.get("mode", default.embedding),
        argv=tuple(embedding.get("argv", default.argv)),
        identity=embedding.get("identity", default.identity),
        runtime=plugin.get("runtime", default.runtime),
        adapter=config.get("adapter", default.adapter),
        runner=tuple(config.get("runner", default.runner)),
        agent=tuple(config.get("agent", default.agent)),
        environment=config.get("environment", default.environment),
        services=config.get("services", default.services),
        run_seconds=int(config.get("validation", {}).get("timeoutSeconds", default.run_seconds)),
        repeats=int(config.get("evidence", {}).get("repeats", default.repeats)),
        mutants=int(config.get("evidence", {}).get("mutants", default.mutants)),
    )


def _check(config: Any) -> str:
    """Refuse a configuration that is wrong outside the plugin; return what is wrong inside it."""
    if schemas.has_form("config", config):
        return ""
    in_plugin = ""
    for problem in schemas.problems("config", config):
        if problem.path[:2] != _PLUGIN:
            raise Unusable("configuration-invalid", problem.text)
        in_plugin = in_plugin or problem.text
    return in_plugin
