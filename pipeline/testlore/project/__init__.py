"""The project whose memory it is: its settings, safe files, git, sources and provenance."""
