"""``python -m testlore`` is the ``testlore`` command of the interpreter that runs it."""

from testlore.cli import command

command()
