"""The bounds of a call. They stand alone, so that a command line is understood before anything else is imported."""

DEFAULT_LIMIT = 5
MAX_LIMIT = 20

DEFAULT_MAX_CHARS = 6_000
MIN_MAX_CHARS, MAX_MAX_CHARS = 256, 20_000

MAX_QUERY_CHARACTERS = 4_096

FORMATS = ("table", "json", "prompt")
