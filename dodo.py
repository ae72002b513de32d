"""The door for doit: ``doit list`` shows what there is."""

from pipeline.tasks import *  # noqa: F403
from pipeline.tasks import doit_config

DOIT_CONFIG = doit_config()
