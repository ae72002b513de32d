"""The child process of ``runtime: python``: it answers each line of its input with a line, until the input ends.

The package does not import this script, and the script imports nothing but the SDK's native module. Its arguments are
the SDK's folder, and after how many seconds without a request it ends. It loads the module before it reads, while its
parent prepares the request.
"""

import sys
import types

TYPE_CHECKING = False  # importing typing would cost 10 % of the start
if TYPE_CHECKING:
    from typing import Any


def parse(data: bytes) -> "Any":
    """Parse JSON without the json package, whose regular expressions would double the start time."""
    try:
        from _json import make_scanner
    except ImportError:  # a Python other than CPython
        import json

        return json.loads(data)
    context: Any = types.SimpleNamespace(
        strict=True, object_hook=None, object_pairs_hook=None, parse_float=float, parse_int=int, parse_constant=None
    )
    return make_scanner(context)(data.decode("utf-8"), 0)[0]


def load(folder: str) -> "Any":
    """Import ``ruvector._native`` without ``ruvector/__init__.py``, which would import more."""
    package = types.ModuleType("ruvector")
    package.__path__ = [folder]
    sys.modules["ruvector"] = package
    import ruvector._native

    return ruvector._native


def floats(encoded: str) -> "list[float]":
    """The numbers of a base64 text of little-endian float32."""
    from array import array
    from binascii import a2b_base64

    numbers = array("f", a2b_base64(encoded))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def build(store_type: "Any", request: "dict[str, Any]") -> "dict[str, Any]":
    """Make a new database of the request's rows."""
    size = request["dimensions"]
    numbers = floats(request["vectors"])
    rows = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    store = store_type.create(request["path"], size)
    store.ingest(rows, list(range(len(rows))))
    count = store.status()["total_vectors"]
    store.close()
    return {"count": count}


def search(store_type: "Any", request: "dict[str, Any]") -> "dict[str, Any]":
    """Compare the query with all rows. For unit vectors the cosine distance is half of the squared L2 distance."""
    store = store_type.open(request["path"], True)
    count = store.status()["total_vectors"]
    if store.dimension != request["dimensions"]:
        return {"error": "cache-corrupt", "detail": "the database has other dimensions"}
    found = store.query(floats(request["vector"]), request["count"]) if count == request["count"] else []
    store.close()
    return {"count": count, "hits": [[row, squared / 2] for row, squared in found]}


def store_of(folder: str) -> "tuple[Any, dict[str, Any] | None]":
    """The SDK's class of databases, or the answer that says why it cannot be used."""
    try:
        native = load(folder)
    except Exception as error:
        return None, {"error": "native-load-failed", "detail": type(error).__name__}
    store_type = getattr(native, "RvfStore", None)
    needed = ("create", "open", "ingest", "query", "status", "close")
    if store_type is None or not all(hasattr(store_type, name) for name in needed):
        return None, {"error": "sdk-api-mismatch"}
    return store_type, None


def answer(store_type: "Any", line: bytes) -> "dict[str, Any]":
    """The answer to a request."""
    try:
        request = parse(line)
        return {"build": build, "search": search}[request["operation"]](store_type, request)
    except Exception as error:
        return {"error": "worker-failed", "detail": f"{type(error).__name__}: {error}"}


def write(value: "dict[str, Any]") -> None:
    """Write an answer. The ``repr`` of numbers and lists of numbers is JSON; our parent refuses NaN and Infinity."""
    if "error" in value:
        import json

        text = json.dumps(value)
    else:
        text = "{" + ", ".join(f'"{key}": {item!r}' for key, item in value.items()) + "}"
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def expire(seconds: int) -> None:
    """Let the system end this process after so many seconds, since its parent may have been killed."""
    try:
        from _signal import alarm  # type: ignore[import-not-found]
    except ImportError:  # Windows
        return
    alarm(seconds)


expire(int(sys.argv[2]))
found, fault = store_of(sys.argv[1])
for line in sys.stdin.buffer:
    expire(int(sys.argv[2]))
    write(fault or answer(found, line))
