"""The door for doit: ``doit list`` shows what there is."""

from pipeline.tasks import *  # noqa: F403
from pipeline.tasks import doit_config, task_export, task_learn, task_merge  # noqa: F401

DOIT_CONFIG = doit_config()
