"""The door for doit: ``doit list`` shows what there is."""

import sys

from pipeline.tasks import *  # noqa: F403
from pipeline.tasks import (  # noqa: F401
    Task,
    doit_config,
    task_evaluate,
    task_export,
    task_generate,
    task_learn,
    task_merge,
)

DOIT_CONFIG = doit_config()


def task_bench() -> Task:
    """Time warm and cold recalls as ratios to plain starts"""
    return {"actions": [[sys.executable, "benchmarks/bench.py"]], "uptodate": [False], "verbosity": 2}
