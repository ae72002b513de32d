"""``python -m testlore``: the ``testlore`` command of this interpreter."""

from testlore.cli import command

command()
