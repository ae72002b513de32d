"""The door for doit: ``doit list`` shows what there is."""

import sys

from testlore.tasks import *  # noqa: F403
from testlore.tasks import (  # noqa: F401
    Task,
    doit_config,
    of_checkout,
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


def task_proof() -> Task:
    """Prove the whole on a disposable project, and write its receipt: [runtime=python|node sdk_root=DIR]"""
    prove = of_checkout("-m", "proof", "prove", options=("runtime", "sdk_root"))
    return {"actions": [prove], "uptodate": [False], "verbosity": 2}


def task_verify_receipt() -> Task:
    """Whether the committed receipts still fit today's sources"""
    return {"actions": [of_checkout("-m", "proof", "verify")], "uptodate": [False], "verbosity": 2}


def task_own_memory() -> Task:
    """Validate proof/candidates, and remember them in this repository: [check=N to validate N anew instead]"""
    return {
        "actions": [of_checkout("-m", "proof", "own-memory", options=("check",))],
        "uptodate": [False],
        "verbosity": 2,
    }
