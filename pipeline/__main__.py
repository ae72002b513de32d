"""``python -m pipeline`` is the ``testlore`` command of the interpreter that runs it."""

import sys

from pipeline.cli import main

sys.exit(main())
