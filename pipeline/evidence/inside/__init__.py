"""What runs inside of a project's own interpreter, beside its tests: plain scripts that import nothing of ours."""
