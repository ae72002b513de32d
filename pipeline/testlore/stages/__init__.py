"""The stages of a recall, one module for each task of the graph, and the session that runs each at most once.

::

    validate -> key -> embed -> index -> query -> recall

doit's tasks and the ``testlore`` command both use the session. A stage returns what it made or raises
:class:`~testlore.errors.Fallback`. Later calls in the same session get the same value or the same exception.
"""
