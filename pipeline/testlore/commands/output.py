"""shim"""

import sys

from testlore import cli

write = cli.write


def tell(m):
    print(f"testlore: {m}", file=sys.__stderr__)


def write_error(t):
    sys.stderr.write(t)


def flush():
    sys.stdout.flush()


def show(result, form, budget):
    cli.show(result, form, budget)
