"""The project that owns the memory: its settings, files, git, sources and provenance."""
