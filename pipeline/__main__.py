"""``python -m pipeline`` is the ``testlore`` command of the interpreter that runs it."""

from pipeline.cli import command

command()
