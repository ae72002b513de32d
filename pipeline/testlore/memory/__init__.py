"""The memory of a project: the canonical store, and the rules of who may change it and how."""
